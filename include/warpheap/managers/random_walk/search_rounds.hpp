// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How often all words are searched for a request that a walk has not served, and when it gives up.

#include "warpheap/managers/random_walk/run_left.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// Searches all places, shared by groups. They count the rounds themselves: see `search_rounds`.
using shared_rounds = shared_search<128, longest_run_left, 1>;

/// Searches until each member has what it wants, or that is known to be exhausted, or the group
/// gives up because others free and take all the time: after `FutileRounds` rounds that have left
/// nothing for it, or four times as many that have left something which others then took.
///
/// A round during which nobody frees is not one of the latter: each of those ends because others
/// have taken a part of what there is. So a request that gives up was beside lanes that free.
///
/// \param wanted, visit like those of `shared_search::search`
/// \param take_left `(word)`, a collective of `team`: takes what members want from what is left
/// there
template <int FutileRounds = 4, class Wanted, class Visit, class TakeLeft>
WARPHEAP_DEVICE void search_rounds(shared_rounds& memory, const simt::group& team,
                                   std::uint32_t words, const Wanted& wanted, const Visit& visit,
                                   const TakeLeft& take_left) {
  // The first futile round may have begun before the call, but not the next one: two see what is
  // free all the time.
  static_assert(FutileRounds >= 2);
  int futile = 0;
  for (int lost = 0; futile < FutileRounds && lost < 4 * FutileRounds;) {
    memory.search(team, words, wanted, visit);
    const bool unserved = wanted() != 0 && !memory.is_out(wanted());
    if (!team.any(unserved)) return;
    // What the round has left, this group has perhaps not had the chance to see.
    const run_left left = run_left::of(team.broadcast(memory.known().left()));
    if (team.any(unserved && wanted() <= left.units)) {
      take_left(left.word);
      if (left.spoilt) ++lost;
    } else {
      ++futile;
    }
  }
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
