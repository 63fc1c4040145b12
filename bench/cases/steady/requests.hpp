// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/requests.hpp"

namespace warpheap::bench {

struct exchange_report {
  std::uint64_t served = 0;
  std::uint64_t nulls = 0;
  /// Blocks whose contents are not what was written, or that are not aligned.
  std::uint64_t corrupted = 0;
};

/// Every lane allocates a block, fills it, exchanges it for what is in a random slot of a table,
/// and checks and frees that, `rounds` times.
struct exchanging {
  std::uint64_t threads = 0;
  std::uint64_t rounds = 0;
  /// Sizes and seed are those of a batch.
  request_batch sizes;
  std::uint64_t alignment = 0;
  /// Blocks are written and checked whole; else their first and last words are.
  bool whole = false;
  /// Addresses of blocks, or 0.
  std::uint64_t* slots = nullptr;
  std::uint64_t slot_count = 0;
  exchange_report* report = nullptr;
};

/// Counts and checks the blocks of the table, and frees them.
struct slot_emptying {
  exchanging of;
  block_report* report = nullptr;
};

}  // namespace warpheap::bench
