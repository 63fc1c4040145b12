// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What is written into a block so that it is noticed when another block lies over it.

#include "warpheap/core/hash.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// Blocks up to this size are written whole, larger ones at both ends.
inline constexpr std::uint64_t whole_bytes = 64;

/// Calls `word(i)` for each 8-byte word and `byte(i)` for each byte behind the last whole word.
template <class Word, class Byte>
WARPHEAP_DEVICE void visit_contents(std::uint64_t bytes, const Word& word, const Byte& byte) {
  const std::uint64_t words = bytes / 8;
  const bool whole = bytes <= whole_bytes;
  const std::uint64_t front = whole ? words : 2;
  for (std::uint64_t i = 0; i < front; ++i) word(i);
  for (std::uint64_t i = whole ? words : words - 2; i < words; ++i) word(i);
  for (std::uint64_t i = words * 8; i < bytes; ++i) byte(i);
}

/// Word `i` of the block with this tag.
WARPHEAP_HD constexpr std::uint64_t content_word(std::uint64_t tag, std::uint64_t i) {
  return mix64(tag + i);
}

/// \pre the block is aligned to 8
WARPHEAP_DEVICE inline void write_contents(void* block, std::uint64_t bytes, std::uint64_t tag) {
  visit_contents(
      bytes, [=](std::uint64_t i) { static_cast<std::uint64_t*>(block)[i] = content_word(tag, i); },
      [=](std::uint64_t i) {
        static_cast<std::uint8_t*>(block)[i] = static_cast<std::uint8_t>(content_word(tag, i));
      });
}

WARPHEAP_DEVICE inline bool has_contents(const void* block, std::uint64_t bytes,
                                         std::uint64_t tag) {
  bool same = true;
  visit_contents(
      bytes,
      [&](std::uint64_t i) {
        same = same && static_cast<const std::uint64_t*>(block)[i] == content_word(tag, i);
      },
      [&](std::uint64_t i) {
        same = same && static_cast<const std::uint8_t*>(block)[i] ==
                           static_cast<std::uint8_t>(content_word(tag, i));
      });
  return same;
}

}  // namespace lanes
WARPHEAP_END_NAMESPACE
