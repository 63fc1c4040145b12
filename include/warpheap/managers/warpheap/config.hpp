// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

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
  /// Random chunks in which a lane looks by itself, a few words of each, before the class is
  /// searched.
  int chunks_alone = 8;
  /// Words that are one slice of a search, about: `shared_search`.
  std::uint32_t words_a_slice = 256;
};

WARPHEAP_END_NAMESPACE
