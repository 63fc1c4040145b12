// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How many blocks a new heap must hold, computed from the drawing of its layout and from its
/// configuration, and never by asking the manager: what the manager loses, it cannot hide.

#include "warpheap/core/align.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// What a new heap of `heap_bytes` must hold. `manager_traits` has a function `capacities` that
/// gives a few of them.
struct capacity {
  std::size_t block_bytes;
  std::size_t heap_bytes;
  /// Of `block_bytes` each.
  std::uint64_t blocks;
  /// A heap that has lost this many bytes must hold fewer blocks.
  std::size_t unit_bytes;
};

/// Adds up what stands in front of the blocks in the drawing of a layout. Each part starts at a
/// multiple of 128 bytes.
class layout_bytes {
 public:
  constexpr layout_bytes& array(std::size_t count, std::size_t bytes_each) {
    bytes_ = round_up<std::size_t>(bytes_ + count * bytes_each, 128);
    return *this;
  }

  /// Bitmap trees side by side: a bit for each element and for each word of the level below.
  constexpr layout_bytes& trees(std::size_t count, std::size_t elements) {
    return array(count, tree_words(elements) * 8);
  }

  /// With blocks that start at a multiple of `alignment`, in memory that may start at any multiple
  /// of 256.
  constexpr std::size_t then(std::size_t blocks_bytes, std::size_t alignment = 128) const {
    const std::size_t skipped = alignment > 256   ? alignment - 256
                                : alignment > 128 ? alignment - 128
                                                  : 0;
    return bytes_ + skipped + blocks_bytes;
  }

 private:
  /// A word of changes, the levels above the last one, which have 1, 64, 4096 ... words, and that.
  static constexpr std::size_t tree_words(std::size_t elements) {
    const std::size_t leaves = (elements + 63) / 64;
    std::size_t words = 1 + leaves;
    for (std::size_t level = 1; level < leaves; level *= 64) words += level;
    return words;
  }

  std::size_t bytes_ = 0;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
