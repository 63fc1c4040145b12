// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

namespace warpheap::bench {

/// Ticks of the multiprocessors' clocks, over all warps of a kernel. Of lanes that call malloc or
/// free together the first one counts.
struct call_time {
  std::uint64_t in_malloc = 0;
  std::uint64_t in_free = 0;
  std::uint64_t in_all = 0;

  /// None where there is no clock.
  std::optional<double> malloc_share() const { return share(in_malloc); }
  std::optional<double> free_share() const { return share(in_free); }

 private:
  std::optional<double> share(std::uint64_t part) const {
    if (in_all == 0) return {};
    return static_cast<double>(part) / static_cast<double>(in_all);
  }
};

}  // namespace warpheap::bench
