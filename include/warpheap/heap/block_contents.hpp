// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What `calloc` and `realloc` do to the contents of a block, by one lane. Compilers do not know
/// that blocks are aligned. Without that, nvcc moves a byte at a time and waits for each.

#include "warpheap/heap/capabilities.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

WARPHEAP_BEGIN_NAMESPACE
namespace block_contents {

/// Sets the first `bytes` bytes of a block to zero.
WARPHEAP_DEVICE inline void clear(void* block, std::size_t bytes) {
  std::memset(__builtin_assume_aligned(block, least_alignment), 0, bytes);
}

/// What a lane copies at a time.
struct alignas(least_alignment) piece {
  std::uint64_t words[12];  ///< nvcc would keep each byte in a register of its own

  WARPHEAP_DEVICE static piece load(const std::byte* from) {
    piece held;
    std::memcpy(&held, __builtin_assume_aligned(from, least_alignment), sizeof held);
    return held;
  }
  WARPHEAP_DEVICE void store(std::byte* to) const {
    std::memcpy(__builtin_assume_aligned(to, least_alignment), this, sizeof *this);
  }
};

/// Copies `count` pieces, at least one. The loads of a piece are under way while the one before it
/// is stored, and were asked for some pieces before. Out of line: a lane has 64 registers, of which
/// two pieces take 48, and one that is moved elsewhere must have arrived.
WARPHEAP_RARE inline void copy_pieces(std::byte* to, const std::byte* from, std::size_t count) {
  constexpr std::size_t ahead = 16;
  piece held = piece::load(from);
  for (; count > 1; --count) {
    if (count > ahead) simt::prefetch(from + ahead * sizeof(piece));
    from += sizeof(piece);
    const piece next = piece::load(from);
    held.store(to);
    to += sizeof(piece);
    held = next;
  }
  held.store(to);
}

/// Copies the first `bytes` bytes of a block to another one.
WARPHEAP_DEVICE inline void copy(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t pieces = bytes / sizeof(piece);
  if (pieces != 0) simt::call_apart(&copy_pieces, target, source, pieces);
  std::size_t done = pieces * sizeof(piece);
  for (; done + least_alignment <= bytes; done += least_alignment) {
    std::memcpy(__builtin_assume_aligned(target + done, least_alignment),
                __builtin_assume_aligned(source + done, least_alignment), least_alignment);
  }
  std::memcpy(target + done, source + done, bytes - done);
}

}  // namespace block_contents
WARPHEAP_END_NAMESPACE
