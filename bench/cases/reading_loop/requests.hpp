// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/requests.hpp"

#include <cstdint>

namespace warpheap::bench {

/// What the lanes of a loop read: in each round, `reads` words each out of `count`, neighbouring
/// lanes neighbouring words. A round begins where the last one ended.
struct reading {
  const std::uint32_t* words = nullptr;
  std::uint64_t count = 0;
  std::uint64_t reads = 0;
  std::uint64_t rounds = 0;
};

/// The request of the kernel that reads alone: each lane's sum of all rounds.
struct bare_loop {
  std::uint64_t threads = 0;
  reading from;
  std::uint32_t* sums = nullptr;
};

struct loop_report {
  std::uint64_t nulls = 0;
  /// Lanes with another sum than in the bare loop, and blocks whose word changed.
  std::uint64_t corrupted = 0;
};

/// The request of the kernel that has a block in each round: a malloc before the reads, and after
/// them the sum is written into the block and the block is freed.
struct loop_with_blocks {
  request_batch batch;
  reading from;
  const std::uint32_t* sums = nullptr;
  loop_report* report = nullptr;
};

}  // namespace warpheap::bench
