// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/workloads/group_by/requests.hpp"

#include <cstdint>

namespace warpheap::bench {

/// For grouping without pages: marks each of the sorted rows that is the first with its key.
struct run_marking {
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  std::uint64_t* marks = nullptr;
};

/// Aggregates the sorted rows, several per lane. `runs` are the prefix sums of the marks.
struct run_grouping {
  static constexpr std::uint64_t rows_per_lane = 16;
  std::uint64_t rows = 0;
  const std::uint32_t* keys = nullptr;
  const std::uint32_t* values = nullptr;
  const std::uint64_t* runs = nullptr;
  group_by_data::row_group* groups = nullptr;
};

}  // namespace warpheap::bench
