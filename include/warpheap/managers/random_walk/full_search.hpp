// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The end of a walk that found no page: a search of all words of flags or bits, shared with the
/// other groups that search (shared_search.hpp).

#include "warpheap/managers/random_walk/page_pool.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// A page for each of the lanes that call together, from anywhere in `words` words; `no_page` for
/// those that get none because the heap is exhausted.
///
/// \param examine `bool (std::uint32_t word)`: whether the word shows a free page, by a
///   read-modify-write with acquire and release
/// \param take `std::uint32_t (std::uint32_t word)`: takes a page of the word for the calling lane,
///   or returns `no_page` when none is left
template <class Examine, class Take>
WARPHEAP_DEVICE std::uint32_t search_pages(shared_search<>& memory, std::uint32_t words,
                                           const Examine& examine, const Take& take) {
  // The number of words that a lane reads at once, to hide their latency.
  constexpr std::uint32_t batch = 4;
  const simt::group team = simt::coalesced();
  const auto lanes = static_cast<std::uint32_t>(team.size());
  const auto rank = static_cast<std::uint32_t>(team.rank());
  std::uint32_t page = no_page;
  const auto visit = [&](std::uint32_t first, std::uint32_t count) {
    bool some_left = false;
    for (std::uint32_t done = 0; done < count; done += batch * lanes) {
      std::uint32_t hits = 0;
      for (std::uint32_t j = 0; j < batch; ++j) {
        const std::uint32_t i = done + j * lanes + rank;
        if (i < count && examine(first + i)) hits |= 1u << j;
      }
      const simt::lane_mask finders = team.ballot(hits != 0);
      // A ballot orders nothing: lanes that take must see the word at least as its finder has seen
      // it, or they would consider a page missing that is there.
      if (!finders.empty()) team.sync();
      for (simt::lane_mask found = finders; !found.empty(); found = found.without(found.lowest())) {
        const int finder = found.lowest();
        const auto finder_rank = static_cast<std::uint32_t>(team.mask().below(finder).count());
        for (std::uint32_t rest = team.shuffle(hits, finder); rest != 0; rest &= rest - 1) {
          const auto j = static_cast<std::uint32_t>(lowest_bit(rest));
          if (page == no_page) page = take(first + done + j * lanes + finder_rank);
        }
      }
      // If a lane is unserved, all pages that were found are gone.
      some_left = some_left || (!finders.empty() && team.all(page != no_page));
    }
    return some_left ? 1u : 0u;
  };
  memory.search(
      team, words, [&] { return page == no_page ? 1u : 0u; }, visit);
  return page;
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
