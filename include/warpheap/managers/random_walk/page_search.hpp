// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/random_walk/full_search.hpp"
#include "warpheap/managers/random_walk/page_pool.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// One pass over all words. Ends early for all when the heap turns out to be exhausted.
template <class HasFree, class Take>
WARPHEAP_DEVICE std::uint32_t visit_words(exhaustion& memory, std::uint32_t words,
                                          const HasFree& has_free, const Take& take) {
  // Words that a lane has under way at once, to hide their latency.
  constexpr std::uint32_t batch = 8;
  const simt::group together = simt::coalesced();
  const auto lanes = static_cast<std::uint32_t>(together.size());
  const auto rank = static_cast<std::uint32_t>(together.rank());
  const round_trip trip(together, words);
  std::uint32_t page = no_page;
  // `done` does not overflow: a heap has at most 2^32 granules, and a word takes at least a granule
  // for its page and a quarter of one for itself.
  for (std::uint32_t done = 0; done < words; done += batch * lanes) {
    std::uint32_t hits = 0;
    for (std::uint32_t j = 0; j < batch; ++j) {
      const std::uint32_t i = done + j * lanes + rank;
      if (i < words && has_free(trip.place(i))) hits |= 1u << j;
    }
    const simt::lane_mask finders = together.ballot(hits != 0);
    // A ballot orders nothing: those that take must see the word at least as its finder has seen
    // it, or they would take a page that is there for one that is not.
    if (!finders.empty()) together.sync();
    for (simt::lane_mask found = finders; !found.empty(); found = found.without(found.lowest())) {
      const int finder = found.lowest();
      const auto finder_rank = static_cast<std::uint32_t>(together.mask().below(finder).count());
      for (std::uint32_t rest = together.shuffle(hits, finder); rest != 0; rest &= rest - 1) {
        const auto j = static_cast<std::uint32_t>(lowest_bit(rest));
        if (page == no_page) page = take(trip.place(done + j * lanes + finder_rank));
      }
    }
    if (together.all(page != no_page || memory.is_out(1))) break;
  }
  return page;
}

/// A page for each of the lanes that call together, from anywhere in `words` words; `no_page` for
/// those that get none because the heap is exhausted.
///
/// \param look `bool (std::uint32_t word)`: whether the word shows a free page, by a plain load
/// \param examine the same by a read-modify-write with acquire and release
/// \param take `std::uint32_t (std::uint32_t word)`: takes a page of the word for the calling lane,
///   or returns `no_page` when none is left
template <class Look, class Examine, class Take>
WARPHEAP_DEVICE std::uint32_t search_pages(exhaustion& memory, std::uint32_t words,
                                           const Look& look, const Examine& examine,
                                           const Take& take) {
  return search_all(
      memory, 1, [&] { return visit_words(memory, words, look, take); },
      [&] { return visit_words(memory, words, examine, take); });
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
