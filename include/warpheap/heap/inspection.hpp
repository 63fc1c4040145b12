// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What a manager finds when it looks at itself while no lane allocates: blocks in use, and which
/// of its numbered invariants do not hold. Lives in device memory; many lanes add to one object.
struct inspection {
  static constexpr int most_invariants = 32;

  std::uint64_t blocks_in_use = 0;
  std::uint64_t bytes_in_use = 0;
  /// How often invariant I(i+1) does not hold, and a place where it does not.
  std::uint64_t violations[most_invariants] = {};
  std::uint64_t places[most_invariants] = {};

  /// Adds blocks that are in use and the bytes that they occupy.
  WARPHEAP_DEVICE void in_use(std::uint64_t blocks, std::uint64_t bytes) {
    if (blocks == 0) return;
    simt::atomic_ref(blocks_in_use).fetch_add(blocks, simt::order::relaxed);
    simt::atomic_ref(bytes_in_use).fetch_add(bytes, simt::order::relaxed);
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
