// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Sizes, and where the blocks of a bin lie (bulk_allocator.hpp draws it): plain arithmetic, the
/// same on host and device.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

struct bulk_allocator_config {
  /// Bytes of a page of the buddy tree, and of a bin.
  std::uint32_t page_bytes = 4096;
  /// Bytes before the blocks of a bin, and of a tail.
  std::uint32_t header_bytes = 128;
  /// Pages of a chunk, as a power of two.
  int chunk_log2 = 7;
  /// Bytes of the smallest block, and of the largest one that comes out of a bin.
  std::uint32_t smallest_block = 16;
  std::uint32_t largest_small = 1024;
  /// Chunks of a heap for each arena, at least: small heaps have fewer arenas than there are
  /// multiprocessors.
  std::uint32_t chunks_per_arena = 4;
};

/// A byte of a heap, as `free` sees it: in which bin, and where among its blocks.
struct small_place {
  std::uint32_t bin;
  /// Behind the bin's header, or in its tail.
  std::uint32_t bytes;
  bool in_tail;
};

template <bulk_allocator_config Config>
struct geometry {
  static_assert(is_power_of_two(Config.page_bytes) && is_power_of_two(Config.header_bytes) &&
                    is_power_of_two(Config.smallest_block) && is_power_of_two(Config.largest_small),
                "the sizes must be powers of two");
  static_assert(Config.smallest_block >= 16 && Config.header_bytes >= Config.smallest_block &&
                    Config.largest_small >= Config.smallest_block,
                "16 <= smallest_block <= header_bytes, and smallest_block <= largest_small");
  static_assert(Config.largest_small + Config.header_bytes <= Config.page_bytes,
                "the header and a block of largest_small must fit into a page");
  static_assert(Config.page_bytes / Config.smallest_block / 8 <= Config.header_bytes &&
                    Config.page_bytes / Config.smallest_block <= 4095,
                "header_bytes must have a bit for each block of the smallest size, at most 4095");
  static_assert(Config.chunk_log2 >= 1 && Config.chunk_log2 <= 11 &&
                    (1u << Config.chunk_log2) / 8 <= Config.header_bytes,
                "header_bytes must have a bit for each page of a chunk, at most 2048");
  static_assert(Config.chunks_per_arena != 0, "chunks_per_arena must not be 0");

  static constexpr int page_shift = floor_log2(Config.page_bytes);
  static constexpr std::uint32_t chunk_pages = 1u << Config.chunk_log2;
  static constexpr std::uint32_t classes =
      static_cast<std::uint32_t>(floor_log2(Config.largest_small / Config.smallest_block)) + 1;

  /// A special bin is a header and this many tails.
  static constexpr std::uint32_t tails = Config.page_bytes / Config.header_bytes - 1;
  /// The first bins of a chunk: enough for a tail to each of the others.
  static constexpr std::uint32_t special_bins = ceil_div<std::uint32_t>(chunk_pages, tails + 1);
  static constexpr std::uint32_t regular_bins = chunk_pages - special_bins;

  /// \pre `0 < bytes <= largest_small`
  WARPHEAP_HD static constexpr std::uint32_t class_of(std::size_t bytes) {
    if (bytes <= Config.smallest_block) return 0;
    return static_cast<std::uint32_t>(ceil_log2(bytes) - floor_log2(Config.smallest_block));
  }
  WARPHEAP_HD static constexpr int block_shift(std::uint32_t cls) {
    return floor_log2(Config.smallest_block) + static_cast<int>(cls);
  }
  /// Blocks behind the header of a bin.
  WARPHEAP_HD static constexpr std::uint32_t blocks_behind_header(std::uint32_t cls) {
    return (Config.page_bytes - Config.header_bytes) >> block_shift(cls);
  }
  /// Blocks of a bin, those in its tail included.
  WARPHEAP_HD static constexpr std::uint32_t blocks(std::uint32_t cls) {
    return blocks_behind_header(cls) + (Config.header_bytes >> block_shift(cls));
  }

  WARPHEAP_HD static constexpr std::uint32_t chunk_of(std::uint32_t page) {
    return align_down(page, chunk_pages);
  }

  /// The byte at which block `index` of a bin starts.
  WARPHEAP_HD static constexpr std::uint64_t block_start(std::uint32_t bin, std::uint32_t cls,
                                                         std::uint32_t index) {
    if (index < blocks_behind_header(cls)) {
      return (std::uint64_t{bin} << page_shift) + Config.header_bytes +
             (std::uint64_t{index} << block_shift(cls));
    }
    const std::uint32_t chunk = chunk_of(bin);
    const std::uint32_t tail = bin - chunk - special_bins;
    return (std::uint64_t{chunk + tail / tails} << page_shift) +
           std::uint64_t{Config.header_bytes} * (1 + tail % tails) +
           ((index - blocks_behind_header(cls)) << block_shift(cls));
  }

  /// \pre `offset` is that of a block in a bin
  WARPHEAP_HD static constexpr small_place place_of(std::uint64_t offset) {
    const auto page = static_cast<std::uint32_t>(offset >> page_shift);
    const auto within = static_cast<std::uint32_t>(offset) & (Config.page_bytes - 1);
    const std::uint32_t chunk = chunk_of(page);
    if (page - chunk >= special_bins) return {page, within - Config.header_bytes, false};
    const std::uint32_t tail = tails * (page - chunk) + within / Config.header_bytes - 1;
    return {chunk + special_bins + tail, within & (Config.header_bytes - 1), true};
  }
  WARPHEAP_HD static constexpr std::uint32_t index_of(const small_place& place, std::uint32_t cls) {
    const std::uint32_t index = place.bytes >> block_shift(cls);
    return place.in_tail ? index + blocks_behind_header(cls) : index;
  }

  /// The order of the node that `bytes` bytes need. \pre `bytes != 0`
  WARPHEAP_HD static constexpr int order_of(std::size_t bytes) {
    return bytes <= Config.page_bytes ? 0 : ceil_log2(bytes) - page_shift;
  }
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
