// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/workloads/join/requests.hpp"

#include <cstdint>

namespace warpheap::bench {

/// Every lane counts the matches that it will find.
struct match_counting {
  join_data::join_input input;
  std::uint64_t* counts = nullptr;
};

/// Every lane writes the matches that it finds, starting at its offset.
struct match_writing {
  join_data::join_input input;
  const std::uint64_t* offsets = nullptr;
  join_data::match* matches = nullptr;
};

}  // namespace warpheap::bench
