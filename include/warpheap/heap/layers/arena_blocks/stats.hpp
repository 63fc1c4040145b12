// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What an arena has of its heap.
struct arena_stats {
  std::uint64_t pieces = 0;
  /// Bytes of them, with a head of 32 bytes each.
  std::uint64_t piece_bytes = 0;
  /// Requests that have a block of the heap for themselves.
  std::uint64_t singles = 0;
  /// Bytes of those blocks, with a head of 16 bytes each.
  std::uint64_t single_bytes = 0;
  /// Bytes that requests have of all that, each a multiple of 16.
  std::uint64_t handed_out_bytes = 0;
  /// Bytes at the ends of pieces, too few for a request, which got the next piece.
  std::uint64_t remains_bytes = 0;
  /// Bytes that requests can still get without another piece: the rest of current pieces, and what
  /// `rewind` has kept.
  std::uint64_t unused_bytes = 0;

  std::uint64_t held_bytes() const { return piece_bytes + single_bytes; }
  /// The share of what it has that no request has, from 0 to 1; 0 if it has nothing.
  double waste() const {
    if (held_bytes() == 0) return 0;
    return 1 - static_cast<double>(handed_out_bytes) / static_cast<double>(held_bytes());
  }
};

WARPHEAP_END_NAMESPACE
