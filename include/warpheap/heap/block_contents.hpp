// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What `calloc` and `realloc` do to the contents of a block, by one lane. Compilers do not know
/// that blocks are aligned. Without that, nvcc moves a byte at a time and waits for each.

#include "warpheap/heap/capabilities.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstring>

WARPHEAP_BEGIN_NAMESPACE
namespace block_contents {

/// Sets the first `bytes` bytes of a block to zero.
WARPHEAP_DEVICE inline void clear(void* block, std::size_t bytes) {
  std::memset(__builtin_assume_aligned(block, least_alignment), 0, bytes);
}

/// Copies the first `bytes` bytes of a block to another one. The lane waits for memory once a
/// piece, because its loads are all under way before the first store, and what it waits for was
/// asked for some pieces before.
WARPHEAP_DEVICE inline void copy(void* to, const void* from, std::size_t bytes) {
  struct alignas(least_alignment) piece {
    std::byte contents[8 * least_alignment];
  };
  constexpr std::size_t ahead = 16 * sizeof(piece);
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  std::size_t done = 0;
  for (; done + sizeof(piece) <= bytes; done += sizeof(piece)) {
    if (done + ahead < bytes) simt::prefetch(source + done + ahead);
    piece moved;
    std::memcpy(&moved, __builtin_assume_aligned(source + done, least_alignment), sizeof moved);
    std::memcpy(__builtin_assume_aligned(target + done, least_alignment), &moved, sizeof moved);
  }
  std::memcpy(target + done, source + done, bytes - done);
}

}  // namespace block_contents
WARPHEAP_END_NAMESPACE
