// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Parameters of the manager `warpheap`.
struct warpheap_config {
  /// Bytes of a chunk in small heaps and in large ones: powers of two. In between a heap has a few
  /// thousand chunks, and beyond 2^16 of the largest chunks grow with it.
  std::uint32_t smallest_chunk = std::uint32_t{1} << 14;
  std::uint32_t largest_chunk = std::uint32_t{1} << 18;
  /// Slots of one word of a chunk, 48 at most.
  int word_slots = 48;
  /// Offers that lead to nothing which a lane takes in a row while there may be other slots.
  int most_stale = 4;
  /// Lanes that share a word when the pool seems dry, and words at which a lane looks by itself
  /// then.
  int most_sharing = 8;
  int spread_visits = 4;
  /// Listed words at which a lane looks first, and leaves full ones listed.
  int lenient_visits = 1;
  /// Listed words that a lane may lose to others after that, before it looks for chunks.
  int most_lost = 2;
  /// Listed words that a lane may visit in all while there are chunks.
  int most_visits = 12;
  /// Lanes that may look at the listed words of a class that is nearly full, however few there are.
  std::uint32_t least_searching = 32;
  /// Times that a lane looks again when there are no chunks, while others change what it looks at.
  int most_looks = 3;
};

/// How a heap of the manager `warpheap` begins.
struct warpheap_options {
  /// Bytes for blocks that are memory from the start, a multiple of the bytes of a chunk; 0: all
  /// that the region has room for. What lies behind them may be address space alone, until the heap
  /// grows.
  std::size_t initial_bytes = 0;
};

WARPHEAP_END_NAMESPACE
