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

/// What a lane copies at a time. Two fit into the 64 registers of a lane, with what else it needs.
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

/// Copies the first `bytes` bytes of a block to another one. The loads of a piece are under way
/// while the one before it is stored, and were asked for some pieces before.
WARPHEAP_DEVICE inline void copy(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t ahead = 16 * sizeof(piece);
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  std::size_t done = 0;
  if (bytes >= sizeof(piece)) {
    piece held = piece::load(source);
    for (; done + 2 * sizeof(piece) <= bytes; done += sizeof(piece)) {
      if (done + ahead < bytes) simt::prefetch(source + done + ahead);
      const piece next = piece::load(source + done + sizeof(piece));
      held.store(target + done);
      held = next;
    }
    held.store(target + done);
    done += sizeof(piece);
  }
  for (; done + least_alignment <= bytes; done += least_alignment) {
    std::memcpy(__builtin_assume_aligned(target + done, least_alignment),
                __builtin_assume_aligned(source + done, least_alignment), least_alignment);
  }
  std::memcpy(target + done, source + done, bytes - done);
}

}  // namespace block_contents
WARPHEAP_END_NAMESPACE
