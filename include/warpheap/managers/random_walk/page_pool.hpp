// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/divisor.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/random_walk/out_rule.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// No page, where the number of a page is expected.
inline constexpr std::uint32_t no_page = 0xffffffffu;

/// What a program chooses when it makes a heap of fixed pages.
struct page_options {
  /// Bytes of a page: a multiple of 16.
  std::size_t page_bytes = 256;
};

/// The pages of a heap: numbers, addresses, and nothing about which are free.
class page_pool {
 public:
  page_pool() = default;
  /// Takes `count` pages out of `cursor`.
  page_pool(region_cursor& cursor, std::uint32_t count, const page_options& settings)
      : base_(cursor.take<std::byte>(count * settings.page_bytes, alignment)),
        count_(count),
        granules_(static_cast<std::uint32_t>(settings.page_bytes / granule)),
        by_granules_(granules_) {}

  /// A bound of the pages that a heap of `heap_bytes` has room for, 1 at least. \pre `check`
  static std::uint32_t most_pages(const page_options& settings, std::size_t heap_bytes) {
    const std::size_t most = heap_bytes / settings.page_bytes;
    return most < 1 ? 1u : static_cast<std::uint32_t>(most);
  }

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_HD std::size_t page_bytes() const { return std::size_t{granules_} * granule; }

  WARPHEAP_DEVICE void* address(std::uint32_t page) const {
    return base_ + std::size_t{page} * granules_ * granule;
  }

  /// The number of the page that starts at `block`.
  WARPHEAP_DEVICE std::uint32_t number(const void* block) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(block) - base_);
    return by_granules_.quotient(static_cast<std::uint32_t>(offset / granule));
  }

  /// \throws invalid_argument unless pages of this size can be numbered in a heap of `heap_bytes`
  static void check(const char* owner, const page_options& settings, std::size_t heap_bytes) {
    const auto refuse = [&](const std::string& why) {
      throw invalid_argument(std::string(owner) + ": " + why);
    };
    if (settings.page_bytes == 0 || settings.page_bytes % granule != 0) {
      refuse("pages of " + std::to_string(settings.page_bytes) +
             " bytes; a multiple of 16 is needed");
    }
    const auto limit = [&](const std::string& what, std::size_t bytes) {
      if (bytes <= largest_heap) return;
      refuse(what + " of " + std::to_string(bytes) + " bytes; at most " +
             std::to_string(largest_heap) + " can be numbered in steps of 16 bytes");
    };
    limit("a heap", heap_bytes);
    limit("pages", settings.page_bytes);
  }

 private:
  static constexpr std::size_t granule = 16;
  static constexpr std::size_t alignment = 256;
  // Offsets are divided as 32-bit numbers of granules.
  static constexpr std::size_t largest_heap = granule << 32;

  std::byte* base_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t granules_ = 1;
  divisor by_granules_;
};

/// One pass of `search_all`. Ends early for all when memory turns out to be out.
template <class HasFree, class Take>
WARPHEAP_DEVICE std::uint32_t search_once(exhaustion& memory, std::uint32_t words,
                                          const HasFree& has_free, const Take& take) {
  // Words that a lane has under way at once, to hide their latency.
  constexpr std::uint32_t batch = 8;
  const simt::group together = simt::coalesced();
  const auto lanes = static_cast<std::uint32_t>(together.size());
  const auto rank = static_cast<std::uint32_t>(together.rank());
  const std::uint32_t start =
      together.broadcast(scale_to(static_cast<std::uint32_t>(simt::noise() >> 32), words));
  // The word of this lane in place `i` of the pass. No overflow: words are below 2^31, because a
  // heap has at most 2^32 granules.
  const auto word_at = [&](std::uint32_t i) {
    return start + i < words ? start + i : start + i - words;
  };
  std::uint32_t page = no_page;
  for (std::uint32_t done = 0; done < words; done += batch * lanes) {
    std::uint32_t hits = 0;
    for (std::uint32_t j = 0; j < batch; ++j) {
      const std::uint32_t i = done + j * lanes + rank;
      if (i < words && has_free(word_at(i))) hits |= 1u << j;
    }
    for (simt::lane_mask found = together.ballot(hits != 0); !found.empty();
         found = found.without(found.lowest())) {
      const int finder = found.lowest();
      const auto finder_rank = static_cast<std::uint32_t>(together.mask().below(finder).count());
      for (std::uint32_t rest = together.shuffle(hits, finder); rest != 0; rest &= rest - 1) {
        const auto j = static_cast<std::uint32_t>(lowest_bit(rest));
        if (page == no_page) page = take(word_at(done + j * lanes + finder_rank));
      }
    }
    if (together.all(page != no_page || memory.is_out(1))) break;
  }
  return page;
}

/// Looks at all of `words` words, the lanes that call together side by side, until every one of
/// them has what it wants or memory is known to be out. The end of a walk that found nothing.
///
/// The first pass reads; most searches end there. If it finds nothing, the passes that follow
/// examine every word in the way that `exhaustion` needs to believe them.
///
/// \param look `bool (std::uint32_t word)`: whether the word shows a free page, by a plain load
/// \param examine the same by a read-modify-write with acquire and release
/// \param take `std::uint32_t (std::uint32_t word)`: takes a page of the word for the calling lane,
///   or gives `no_page` when none is left
///
/// Progress: a bounded number of passes, each of which visits every word once; a lane waits for the
/// members of its group only, who all run the same loops.
template <class Look, class Examine, class Take>
WARPHEAP_DEVICE std::uint32_t search_all(exhaustion& memory, std::uint32_t words, const Look& look,
                                         const Examine& examine, const Take& take) {
  // A page that is freed behind a searcher's back is found in the next pass. Passes are limited
  // because others could free and take for ever.
  constexpr int most_passes = 16;
  std::uint32_t page = search_once(memory, words, look, take);
  for (int pass = 1; pass < most_passes && page == no_page && !memory.is_out(1); ++pass) {
    const exhaustion::token mine = memory.announce();
    page = search_once(memory, words, examine, take);
    if (page == no_page && memory.confirm(mine, 1)) break;
  }
  return page;
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
