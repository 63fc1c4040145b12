// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The default manager as small as the explorer, inspections and lone lanes want it.

#include "warpheap/managers/warpheap/warpheap.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Chunks of 256 bytes, words of three slots, fewer than a group has lanes.
/// Classes take chunks together in a heap of 32 or more. Few lanes may look at listed words at
/// a time, so that some are refused.
inline constexpr warpheap_config small_chunks{.smallest_chunk = 256,
                                              .largest_chunk = 256,
                                              .least_takings = 16,
                                              .slots_at_once = 1,
                                              .word_slots = 3,
                                              .spread_visits = 4,
                                              .lenient_visits = 1,
                                              .short_visits = 12,
                                              .least_searching = 1};

using small = warpheap_manager<small_chunks>;

/// The same, of which a class keeps an order from few chunks on.
inline constexpr warpheap_config small_in_order = [] {
  warpheap_config how = small_chunks;
  how.chunks_per_place = 16;
  return how;
}();

}  // namespace test
WARPHEAP_END_NAMESPACE
