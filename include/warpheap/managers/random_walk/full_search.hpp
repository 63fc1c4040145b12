// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The end of a walk that found no page: a search of all words of flags or bits, shared with the
/// other groups that search (search_rounds.hpp).

#include "warpheap/managers/random_walk/page_pool.hpp"
#include "warpheap/managers/random_walk/run_left.hpp"
#include "warpheap/managers/random_walk/search_rounds.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// A page for each member of `together` that has none, from anywhere in `words` words; `no_page`
/// for those that get none because the heap is exhausted, or others free and take all the time
/// (`search_rounds`). A collective of all that walked together: those that are served would only
/// wait for the others.
///
/// \param page the caller's, or `no_page`
/// \param examine `bool (std::uint32_t word)`: whether the word shows a free page, by a relaxed
///   read-modify-write
/// \param take `std::uint32_t (std::uint32_t word)`: takes a page of the word for the calling lane,
///   or returns `no_page` when none is left
template <class Examine, class Take>
WARPHEAP_DEVICE std::uint32_t search_pages(shared_rounds& memory, const simt::group& together,
                                           std::uint32_t words, std::uint32_t page,
                                           const Examine& examine, const Take& take) {
  // The number of words that a lane reads at once, to hide their latency.
  constexpr std::uint32_t batch = 4;
  if (!together.any(page == no_page)) return page;
  // Lanes that use another heap of this type may have walked at the same time.
  const simt::group team = together.match(&memory);
  const auto lanes = static_cast<std::uint32_t>(team.size());
  const auto rank = static_cast<std::uint32_t>(team.rank());
  const auto take_missing = [&](std::uint32_t word) {
    if (page == no_page) page = take(word);
  };
  const auto visit = [&](std::uint32_t first, std::uint32_t count) {
    run_left left;
    // Release: a lane that changes a word after a look at it sees that there is a search. One fence
    // for all looks, because ordered ones wait for each other.
    simt::fence(simt::order::release);
    for (std::uint32_t done = 0; done < count; done += batch * lanes) {
      std::uint32_t hits = 0;
      for (std::uint32_t j = 0; j < batch; ++j) {
        const std::uint32_t i = done + j * lanes + rank;
        if (i < count && examine(first + i)) hits |= 1u << j;
      }
      simt::lane_mask found = team.ballot(hits != 0);
      if (found.empty()) continue;
      // A ballot orders nothing: lanes that take must see the word at least as its finder has seen
      // it, or they would consider a page missing that is there.
      team.sync();
      for (; !found.empty(); found = found.without(found.lowest())) {
        const int finder = found.lowest();
        const auto finder_rank = static_cast<std::uint32_t>(team.mask().below(finder).count());
        for (std::uint32_t rest = team.shuffle(hits, finder); rest != 0; rest &= rest - 1) {
          const auto j = static_cast<std::uint32_t>(lowest_bit(rest));
          take_missing(first + done + j * lanes + finder_rank);
        }
      }
      // Again, for what the members have not taken.
      for (; left.units == 0 && hits != 0; hits &= hits - 1) {
        const auto j = static_cast<std::uint32_t>(lowest_bit(hits));
        const std::uint32_t word = first + done + j * lanes + rank;
        if (examine(word)) left = {word, 1};
      }
    }
    return left;
  };
  search_rounds(
      memory, team, words, [&] { return page == no_page ? 1u : 0u; }, visit, take_missing);
  return page;
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
