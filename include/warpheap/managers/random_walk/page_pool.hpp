// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/divisor.hpp"
#include "warpheap/heap/manager.hpp"
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

/// When a search gives up.
enum class memory_out_rule {
  /// After the random walk all words are searched in turn: null means that nothing is free.
  exact,
  /// The paper's rule (section 3.2.3): null after so many probes in vain that, with 99 %
  /// confidence,
  /// less than `low_water` of the pages are free. Some callers get null although pages are left.
  statistical,
};

/// Probes of single pages until a walk gives up, by `rule`, at a share of `low_water_ppm` free
/// pages in a million. A probe of a word of w pages counts w times.
constexpr std::uint32_t probes_until_out(memory_out_rule rule, std::uint32_t low_water_ppm) {
  const double share = low_water_ppm * 1e-6;
  // Statistical: 2.326^2 (1-L) / L, rounded down as in the paper (1,076 at 0.5 %). Exact:
  // ln(1e9)/L, so that one call in a billion goes on to the full search while that share is free.
  return static_cast<std::uint32_t>(
      rule == memory_out_rule::statistical ? 2.326 * 2.326 * (1 - share) / share : 20.72 / share);
}

/// The pages of a heap: numbers, addresses, and nothing about which are free.
class page_pool {
 public:
  page_pool() = default;
  page_pool(std::byte* base, std::uint32_t count, std::size_t page_bytes)
      : base_(base),
        count_(count),
        granules_(static_cast<std::uint32_t>(page_bytes / granule)),
        by_granules_(granules_) {}

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
    if (heap_bytes > largest_heap) {
      refuse("a heap of " + std::to_string(heap_bytes) + " bytes; at most " +
             std::to_string(largest_heap) + " can be numbered in steps of 16 bytes");
    }
  }

 private:
  static constexpr std::size_t granule = 16;
  // Offsets are divided as 32-bit numbers of granules.
  static constexpr std::size_t largest_heap = granule << 32;

  std::byte* base_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t granules_ = 1;
  divisor by_granules_;
};

/// Looks at all of `words` words, the lanes that call together side by side, until every one of
/// them has what it wants or has seen every word in vain. The end of a walk that found nothing.
///
/// \param has_free `bool (std::uint32_t word)`: whether a look at the word is worth the while
/// \param take `std::uint32_t (std::uint32_t word)`: takes a page of the word for the calling lane,
///   or gives `no_page` when none is left
///
/// Progress: at most `most_searches` passes, each of which visits every word once; a lane waits for
/// the members of its group only, who all run the same loops.
template <class HasFree, class Take>
WARPHEAP_DEVICE std::uint32_t search_all(exhaustion& memory, std::uint32_t words,
                                         const HasFree& has_free, const Take& take) {
  // A page that is freed behind a searcher's back is found in the next pass. Passes are limited
  // because others could free and take for ever.
  constexpr int most_searches = 16;
  for (int search = 0; search < most_searches; ++search) {
    if (memory.is_out(1)) return no_page;
    const simt::group together = simt::coalesced();
    const exhaustion::token mine = memory.announce();
    const auto lanes = static_cast<std::uint32_t>(together.size());
    const auto rank = static_cast<std::uint32_t>(together.rank());
    const std::uint32_t start =
        together.broadcast(scale_to(static_cast<std::uint32_t>(simt::noise() >> 32), words));
    std::uint32_t page = no_page;
    for (std::uint32_t seen = 0; seen < words; seen += lanes) {
      // start + seen + rank < 2^32: words are below 2^31 (a heap has at most 2^32 granules).
      std::uint32_t word = start + seen + rank;
      if (word >= words) word -= words;
      const bool worth_it = seen + rank < words && has_free(word);
      simt::lane_mask found = together.ballot(worth_it);
      for (; !found.empty(); found = found.without(found.lowest())) {
        const std::uint32_t where = together.shuffle(word, found.lowest());
        if (page == no_page) page = take(where);
      }
      if (together.all(page != no_page)) break;
    }
    if (page != no_page) return page;
    if (memory.confirm(mine, 1)) return no_page;
  }
  return no_page;
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
