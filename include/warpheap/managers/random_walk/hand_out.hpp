// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the lanes of a team share the free pages that they have seen.

#include "warpheap/core/bits.hpp"
#include "warpheap/simt/simt.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// The first clear bit of `seen` at or after bit `from`, around the end. \pre one is clear
template <class Word>
WARPHEAP_DEVICE int first_free(Word seen, int from) {
  const Word free_bits = static_cast<Word>(~seen);
  const Word ahead = static_cast<Word>(free_bits & ~low_bits<Word>(from));
  return lowest_bit(ahead != 0 ? ahead : free_bits);
}

/// What one lane gives and gets in a round.
template <class Word>
struct hand_out {
  Word taken = 0;     ///< bits of this lane's word that are given away
  int supplier = -1;  ///< the lane that gives to this one
  int bit = 0;        ///< and the bit of its word
};

/// Matches the free pages of the members' words, `seen`, to the members that need one: the k-th
/// that needs gets from the k-th that has, one page each in turn, until either side is exhausted.
/// Each word is scanned from bit `from` on, so that teams that meet in it rarely promise the same
/// page.
template <class Word>
WARPHEAP_DEVICE hand_out<Word> match(const simt::group& team, simt::lane_mask need, Word seen,
                                     int from) {
  const int me = simt::lane_id();
  hand_out<Word> share;
  simt::lane_mask has = team.ballot(seen != static_cast<Word>(~Word{0}));
  while (!need.empty() && !has.empty()) {
    int bit = 0;
    // Only as many give as there are takers: a surplus page would be lost.
    if (has.contains(me) && has.below(me).count() < need.count()) {
      bit = first_free(seen, from);
      seen = static_cast<Word>(seen | Word{1} << bit);
      share.taken = static_cast<Word>(share.taken | Word{1} << bit);
    }
    const int turn = need.below(me).count();
    const bool receives = need.contains(me) && turn < has.count();
    const int supplier = receives ? has.nth(turn) : me;
    bit = team.shuffle(bit, supplier);
    if (receives) {
      share.supplier = supplier;
      share.bit = bit;
    }
    need = need - team.ballot(receives);
    has = team.ballot(seen != static_cast<Word>(~Word{0}));
  }
  return share;
}

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
