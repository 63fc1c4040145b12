// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Parameters of the manager `warpheap`.
struct warpheap_config {
  /// Bytes of a chunk in small heaps and in large ones: powers of two. In between, a heap has a few
  /// thousand chunks; beyond 2^16 of the largest size, chunks grow with the heap.
  std::uint32_t smallest_chunk = std::uint32_t{1} << 14;
  std::uint32_t largest_chunk = std::uint32_t{1} << 18;
  /// The most chunks that a class takes together while a quarter of the heap is in the pool; how
  /// many times an empty heap has this many, at least; and how many slots such a chunk has, at
  /// least: a warp that wants large slots fills a chunk by itself.
  std::uint32_t most_at_once = 4;
  std::uint32_t least_takings = 256;
  std::uint32_t slots_at_once = 128;
  /// The chunks of a heap to each place where a class hands out slots in order: none in smaller
  /// heaps.
  std::uint32_t chunks_per_place = 1024;
  /// How often a group lets a class grow while it waits for its slots.
  std::uint32_t most_growths = 4;
  /// Slots of one word of a chunk, at most 48.
  int word_slots = 48;
  /// The number of consecutive offers leading to nothing that a lane takes while there may be other
  /// slots.
  int most_stale = 4;
  /// The number of lanes that share a word when the pool seems dry; and of words at which a lane of
  /// a whole warp then looks on its own, and one of a part of a warp.
  int most_sharing = 8;
  int spread_visits = 16;
  int lone_visits = 4;
  /// How often a lane tries to claim slots of one such word while others change it; twice as often
  /// for a group in a heap with room.
  int claim_tries = 3;
  /// The number of listed words at which a lane looks first, leaving full ones listed.
  int lenient_visits = 1;
  /// The number of listed words that a lane may then lose to others before it looks for chunks.
  int most_lost = 2;
  /// log2 of how much likelier a lane that finds nothing in a dry heap takes a chunk than it needs
  /// a whole one: the longer a chunk is there, the more lanes look for it.
  int scarce_doubled = 4;
  /// The total number of listed words that a lane may visit before it looks for chunks; and in a
  /// part of a warp in a dry heap, whose lanes wait for each other.
  int most_visits = 12;
  int short_visits = 2;
  /// The number of lanes that may look at the listed words of a nearly full class, however few
  /// those are.
  std::uint32_t least_searching = 32;
  /// How often a lane of a whole warp looks again while others free slots of the class, if there
  /// seems to be a chunk each time, for without one it looks once; and one of a part of a warp.
  int most_looks = 3;
  int part_looks = 1;
  /// The same for both while others free no slot of the class: no block is missed then, though
  /// lanes ask for all that there are.
  int most_undisturbed = 16;
};

/// How a heap of the manager `warpheap` begins.
struct warpheap_options {
  /// Bytes for blocks that are memory from the start, a multiple of a chunk's bytes; 0: all that
  /// the region has room for. What follows them may be mere address space until the heap grows.
  std::size_t initial_bytes = 0;
};

WARPHEAP_END_NAMESPACE
