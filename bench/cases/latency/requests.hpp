// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/requests.hpp"

namespace warpheap::bench {

/// As `allocation` and `freeing`, with the clock ticks that each lane's call took.
struct clocked_allocation {
  request_batch batch;
  std::uint64_t* addresses = nullptr;
  std::uint32_t* ticks = nullptr;
};
struct clocked_freeing {
  std::uint64_t count = 0;
  const std::uint64_t* addresses = nullptr;
  std::uint32_t* ticks = nullptr;
};

}  // namespace warpheap::bench
