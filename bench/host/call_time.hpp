// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

namespace warpheap::bench {

/// Ticks of the multiprocessors' clocks, over all warps of a kernel.
struct call_time {
  std::uint64_t in_malloc = 0;
  std::uint64_t in_all = 0;

  /// None where there is no clock.
  std::optional<double> share() const {
    if (in_all == 0) return {};
    return static_cast<double>(in_malloc) / static_cast<double>(in_all);
  }
};

}  // namespace warpheap::bench
