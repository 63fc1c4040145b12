// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/word_marks.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Frees slots of the manager `warpheap`. Exists for one call.
template <warpheap_config Config>
class warpheap_slot_frees {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;

  WARPHEAP_DEVICE explicit warpheap_slot_frees(const supply& to) : supply_(to) {}

  /// One slot. In a part of a warp, lanes seldom free neighbouring slots.
  WARPHEAP_DEVICE void run_alone(std::uint32_t of, std::uint32_t chunk, std::uint32_t number,
                                 std::uint32_t bit) const {
    release_slots(of, chunk, number, std::uint64_t{1} << bit);
  }
  /// One slot for each member of a team, which may have different classes. A collective.
  template <class Team>
  WARPHEAP_DEVICE void run(const Team& team, std::uint32_t of, std::uint32_t chunk,
                           std::uint32_t number, std::uint32_t bit) const {
    std::uint64_t bits = std::uint64_t{1} << bit;
    // Neighbouring lanes often free neighbouring slots: one lane then does it for all. This is
    // tried for two words only, since matching lanes is slow when all words are different.
    const std::uint32_t word = chunk * supply_.chunks().stride() + number;
    simt::lane_mask rest = team.mask();
    for (int passes = 0; passes < 2 && !rest.empty(); ++passes) {
      const int first = rest.lowest();
      const simt::lane_mask same = team.ballot(team.shuffle(word, first) == word);
      rest = rest - same;
      if (same.count() == 1) continue;
      const bool shares = same.contains(simt::lane_id());
      const std::uint64_t all = team.merge_bits(shares ? bits : 0);
      if (shares) bits = simt::lane_id() == first ? all : 0;
    }
    team.sync();  // what members did comes before what one of them releases
    if (bits != 0) release_slots(of, chunk, number, bits);
    team.sync();  // so that they go on together
  }

 private:
  WARPHEAP_DEVICE void release_slots(std::uint32_t of, std::uint32_t chunk, std::uint32_t number,
                                     std::uint64_t bits) const {
    const std::uint64_t before = supply_.chunks().give_back(chunk, number, bits);
    if (chunks::is_marked(before)) {
      warpheap_word_marks<Config>::find_again(supply_, of, chunk, number, before, bits);
    }
    if (chunks::used_of(before & ~bits) == 0) supply_.copy().count_out(chunk);
  }

  const supply& supply_;
};

WARPHEAP_END_NAMESPACE
