// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Parameters of the manager `warpheap`.
struct warpheap_config {
  /// Bytes of a chunk in small heaps and in large ones: powers of two. In between, and beyond 64
  /// GiB, a heap has a few thousand to 2^18 chunks.
  std::uint32_t smallest_chunk = std::uint32_t{1} << 14;
  std::uint32_t largest_chunk = std::uint32_t{1} << 18;
  /// Slots of one word of a chunk, 48 at most.
  int word_slots = 48;
  /// Words in which a group claims for all of its lanes, one after another.
  int group_rounds = 4;
  /// Words of a leaf in which a lane that is left over tries to claim for itself.
  int draws = 2;
  /// Chunks that one lane adds to a class at a time, 64 at most.
  int most_adopted = 64;
};

WARPHEAP_END_NAMESPACE
