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
/// gives up because others free and take all the time: after `FutileRounds` rounds without anything
/// left for it when the group looks, or four times as many with something that others then took.
///
/// A round during which no lane frees, and which leaves something, does not count: each such round
/// ends because others have taken a part of what there was. So only beside lanes that free does a
/// request give up while something is left.
///
/// Ends: of rounds that count, there are few, and after one that does not, this group or another
/// one has been served. Why each round ends: shared_search.hpp.
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
    // What a round leaves, this group has perhaps not had the chance to see.
    const auto suits = [&](const run_left& there) {
      return team.any(unserved && wanted() <= there.units);
    };
    const run_left ended = run_left::of(team.broadcast(memory.known().left()));
    const run_left latest = run_left::of(team.broadcast(memory.known().best()));
    // The latest round may have only just begun.
    if (suits(latest) || suits(ended)) {
      take_left(suits(latest) ? latest.word : ended.word);
      if (ended.spoilt) ++lost;
    } else {
      ++futile;
    }
  }
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
