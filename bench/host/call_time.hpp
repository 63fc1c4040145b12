// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

namespace warpheap::bench {

/// Ticks of the multiprocessors' clocks, added up over all lanes of a kernel: what each spends in
/// malloc, in free, and in all. Lanes of a warp that a call sets apart wait for each other, so what
/// a warp takes is less than the sum of its lanes.
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
