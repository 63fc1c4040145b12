// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What can be chosen about Ouroboros, and the sizes that follow from it.

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

/// Where a queue keeps its entries.
enum class queue_kind {
  static_array,   ///< S: an array of fixed size
  virtual_array,  ///< VA: chunks of the heap, found through a small array
  virtual_list,   ///< VL: chunks of the heap, linked
};

/// What the entries of a queue stand for.
enum class item_kind {
  pages,   ///< P: a free page each
  chunks,  ///< C: a chunk with free pages each
};

/// Page sizes double from queue to queue. The first instance has `queues` of them, and chunks as
/// large as its largest page; up to two instances stacked on it continue from there, each with
/// chunks as large as its own largest page.
struct ouroboros_config {
  queue_kind queue = queue_kind::virtual_array;
  item_kind item = item_kind::pages;
  std::uint32_t smallest_page = 16;
  std::uint32_t queues = 10;
  std::uint32_t second_queues = 2;
  std::uint32_t third_queues = 0;
};

/// Sizes of a configuration. A class is a page size and its queue.
template <ouroboros_config Config>
struct geometry {
  static constexpr std::uint32_t classes =
      Config.queues + Config.second_queues + Config.third_queues;
  static constexpr int smallest_log2 = floor_log2(Config.smallest_page);
  /// Bytes of a base chunk, the unit in which memory is handed out.
  static constexpr int chunk_log2 = smallest_log2 + static_cast<int>(Config.queues) - 1;
  static constexpr std::size_t chunk_bytes = std::size_t{1} << chunk_log2;
  static constexpr std::size_t largest_page = std::size_t{Config.smallest_page} << (classes - 1);
  /// The most pages that a chunk can have.
  static constexpr int most_pages_log2 =
      static_cast<int>(std::max({Config.queues, Config.second_queues, Config.third_queues})) - 1;
  static constexpr std::uint32_t most_span = 1u << (classes - Config.queues);
  /// Entries of a queue that fit in a chunk.
  static constexpr int slots_log2 = chunk_log2 - 3;

  static_assert(is_power_of_two(Config.smallest_page) && Config.smallest_page >= 16,
                "ouroboros: smallest_page must be a power of two of at least 16");
  static_assert(Config.queues != 0 && classes <= 24, "ouroboros: there must be 1 to 24 queues");
  static_assert(Config.second_queues != 0 || Config.third_queues == 0,
                "ouroboros: an instance is stacked on one without queues");
  static_assert(chunk_log2 >= 6, "ouroboros: a chunk needs at least 64 bytes");
  static_assert(most_pages_log2 <= 9, "ouroboros: a chunk has at most 512 pages, so 10 queues");
  static_assert(most_span <= 16, "ouroboros: a chunk spans at most 16 base chunks");

  /// The class that serves `bytes`. \pre `0 < bytes <= largest_page`
  WARPHEAP_HD static constexpr std::uint32_t class_of(std::size_t bytes) {
    const int log2 = ceil_log2(static_cast<std::uint32_t>(bytes));
    return log2 <= smallest_log2 ? 0u : static_cast<std::uint32_t>(log2 - smallest_log2);
  }
  WARPHEAP_HD static constexpr int page_log2(std::uint32_t cls) {
    return smallest_log2 + static_cast<int>(cls);
  }
  /// The number of base chunks in a chunk of the class, as a power of two.
  WARPHEAP_HD static constexpr int span_log2(std::uint32_t cls) {
    std::uint32_t last = Config.queues;
    if (cls >= last) last += Config.second_queues;
    if (cls >= last) last += Config.third_queues;
    return static_cast<int>(last - Config.queues);
  }
  WARPHEAP_HD static constexpr int pages_log2(std::uint32_t cls) {
    return chunk_log2 + span_log2(cls) - page_log2(cls);
  }
  /// The number of 32-bit words in the bitmap of a chunk of the class.
  WARPHEAP_HD static constexpr std::uint32_t words_of(std::uint32_t cls) {
    return pages_log2(cls) <= 5 ? 1u : 1u << (pages_log2(cls) - 5);
  }
  /// The number of words for each base chunk.
  static constexpr std::uint32_t mask_words =
      most_pages_log2 <= 5 ? 1u : 1u << (most_pages_log2 - 5);
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
