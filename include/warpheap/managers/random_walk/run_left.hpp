// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a search of all units or pages has left, and where: so that lanes that had no part in it
/// need not search for that.

#include "warpheap/core/config.hpp"
#include "warpheap/sync/exhaustion.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// A run of free units that is left: the word that it begins in, and its length.
struct run_left {
  std::uint32_t word = 0;
  std::uint32_t units = 0;
  bool spoilt = false;  ///< something was freed during the round that has left it

  WARPHEAP_HD static constexpr run_left of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32) & ~mark,
            (packed >> 63) != 0};
  }
  WARPHEAP_HD constexpr std::uint64_t packed() const {
    return std::uint64_t{spoilt ? units | mark : units} << 32 | word;
  }

 private:
  static constexpr std::uint32_t mark = 1u << 31;
};

/// What searches know: the longest run that was left and, as a hint, where that is; each a
/// `run_left`, packed.
class longest_run_left : public best_of_rounds<exhaustion, std::uint64_t> {
 public:
  WARPHEAP_DEVICE void format() { best_of_rounds::format(0); }
  WARPHEAP_DEVICE void note(const run_left& by_lane) {
    // Most lanes have seen nothing longer, and need not all change one word.
    if (by_lane.units > run_left::of(best()).units) raise(by_lane.packed());
  }
  WARPHEAP_DEVICE void end_round() {
    const exhaustion::token begun = announced();
    run_left longest = run_left::of(best());
    longest.spoilt = !memory().confirm(begun, longest.units + 1);
    leave(longest.packed());
  }
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
