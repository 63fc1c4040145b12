// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/workloads/group_by/requests.hpp"

#include <cstdint>

namespace warpheap::bench {

/// For the way without pages: tells of each of the ordered rows whether it is the first of its key.
struct run_marking {
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  std::uint64_t* marks = nullptr;
};

/// Adds the ordered rows up, some a lane. `runs` is what the marks before each row add up to.
struct run_grouping {
  static constexpr std::uint64_t rows_a_lane = 16;
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  const std::uint32_t* values = nullptr;
  const std::uint64_t* runs = nullptr;
  group_by_data::row_group* groups = nullptr;
};

/// Adds up a hash of each group, so that the same groups in any order give the same sum.
struct group_digest {
  const group_by_data::row_group* groups = nullptr;
  std::uint64_t count = 0;
  std::uint64_t* sum = nullptr;
};

}  // namespace warpheap::bench
