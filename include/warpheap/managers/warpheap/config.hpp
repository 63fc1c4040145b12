// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Parameters of the manager `warpheap`.
struct warpheap_config {
  /// Bytes of a chunk in small heaps and in large ones: powers of two. In between a heap has a few
  /// thousand chunks, and beyond 2^16 of the largest chunks grow with it.
  std::uint32_t smallest_chunk = std::uint32_t{1} << 15;
  std::uint32_t largest_chunk = std::uint32_t{1} << 18;
  /// Slots of one word of a chunk, 48 at most.
  int word_slots = 48;
  /// Random words in which the lanes that want the same class claim together.
  int words_together = 2;
  /// Random words that a lane that is left over tries by itself.
  int words_alone = 4;
  /// Chunks of a class, or of the heap, that are one slice of a search: `shared_search`.
  static constexpr std::uint32_t chunks_a_slice = 32;
};

WARPHEAP_END_NAMESPACE
