// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What a manager finds when it looks at itself while no lane allocates: blocks in use, and which
/// of its numbered invariants do not hold. Lives in device memory; many lanes add to one object.
struct inspection {
  static constexpr int most_invariants = 32;
  static constexpr int most_sizes = 64;

  std::uint64_t blocks_in_use = 0;
  std::uint64_t bytes_in_use = 0;
  /// The same for blocks of up to 2^i bytes each that do not fit into 2^(i-1).
  struct {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
  } by_size[most_sizes] = {};
  /// Bytes of the region that are not memory yet (contracts/growth.hpp).
  std::uint64_t bytes_reserved = 0;
  /// How often invariant I(i+1) does not hold, and a place where it does not.
  std::uint64_t violations[most_invariants] = {};
  std::uint64_t places[most_invariants] = {};

  /// Adds blocks that are in use, of about one size, and the bytes that they occupy. Both may be
  /// negative, modulo 2^64: what was added before and is not in use.
  WARPHEAP_DEVICE void in_use(std::uint64_t blocks, std::uint64_t bytes) {
    if (blocks == 0) return;
    simt::atomic_ref(blocks_in_use).fetch_add(blocks, simt::order::relaxed);
    simt::atomic_ref(bytes_in_use).fetch_add(bytes, simt::order::relaxed);
    const bool less = blocks >> 63 != 0;
    const std::uint64_t each = less ? (0 - bytes) / (0 - blocks) : bytes / blocks;
    auto& like_these = by_size[each < 2 ? 0 : ceil_log2(each) % most_sizes];
    simt::atomic_ref(like_these.blocks).fetch_add(blocks, simt::order::relaxed);
    simt::atomic_ref(like_these.bytes).fetch_add(bytes, simt::order::relaxed);
  }

  /// Records whether invariant `number` (1-based) holds at `place` (an index that the manager's
  /// header explains).
  WARPHEAP_DEVICE void expect(bool holds, int number, std::uint64_t place) {
    if (holds) return;
    simt::atomic_ref(violations[number - 1]).fetch_add(1, simt::order::relaxed);
    simt::atomic_ref(places[number - 1]).store(place, simt::order::relaxed);
  }
};

WARPHEAP_END_NAMESPACE
