// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Claims slots of a class in words that a turn or the caller selects. Exists for one call.
template <warpheap_config Config>
class warpheap_slot_claims {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;
  using classes = typename supply::classes_type;
  using spot = typename classes::spot;
  using wish = typename chunks::wish;

  static constexpr std::uint32_t none = supply::none;

  /// A slot; without a chunk, there was none.
  struct place {
    std::uint32_t chunk = none;
    /// Without a chunk, what the search saw: [ turn, or 0: 31 | whether others of the caller's
    /// group got one: 1 ].
    std::uint32_t slot = 0;

    WARPHEAP_HD bool is_left_over() const { return chunk == none && (slot & 1) != 0; }
  };

  WARPHEAP_DEVICE warpheap_slot_claims(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), shape_(from.classes().slots(of)) {}

  WARPHEAP_DEVICE const warpheap_slots& shape() const { return shape_; }
  WARPHEAP_DEVICE bool is_tight() const { return supply_.classes().is_tight(of_, shape_.words); }
  WARPHEAP_DEVICE bool is_nearly_full() const {
    return supply_.classes().is_nearly_full(of_, shape_.words);
  }
  WARPHEAP_DEVICE std::uint32_t owner() const { return chunk_owner::first_class + of_; }

  /// Claims slots of a word that is believed to be `seen`.
  WARPHEAP_DEVICE std::uint64_t claim(const spot& at, std::uint64_t seen,
                                      const wish& wanted) const {
    return counted_in(at, supply_.chunks().claim(target_at(at), seen, wanted));
  }
  /// The same for a word that is probably empty; if others change it all the time, its slots are
  /// left to them.
  WARPHEAP_DEVICE std::uint64_t claim_first(const spot& at, int want) const {
    return counted_in(
        at, supply_.chunks().template claim_first<2 * Config.claim_tries>(target_at(at), want));
  }
  /// The `k`-th of the slots that were claimed.
  WARPHEAP_DEVICE place place_of(const spot& at, std::uint64_t bits, int k) const {
    // Usually, they are the first ones.
    return place_at(at, (bits & (bits + 1)) == 0 ? k : kth_set_bit(bits, k));
  }
  /// The slot that was claimed alone, with much less code: lanes that come apart fetch it again
  /// and again (docs/decisions/0065).
  WARPHEAP_DEVICE place only_place_of(const spot& at, std::uint64_t bit) const {
    return place_at(at, lowest_bit(bit));
  }

  /// Hands out the slots that the leader of `same` has claimed to its members. A collective of
  /// `team`, not of each of its groups: groups proceed side by side. \param rank the caller's place
  /// among its group's members, which get slots in this order
  template <class Team>
  WARPHEAP_DEVICE place share(const Team& team, const simt::group& same, spot at,
                              std::uint64_t bits, int rank) const {
    const int leader = same.leader();
    bits = team.shuffle(bits, leader);
    at.chunk = team.shuffle(at.chunk, leader);
    at.word = team.shuffle(at.word, leader);
    team.sync();  // what the leader has acquired is the members' as well
    if (rank < popcount(bits)) return place_of(at, bits, rank);
    return {none, bits != 0 ? 1u : 0u};
  }

  /// The same for members in the order of their ranks.
  template <class Team>
  WARPHEAP_DEVICE place share(const Team& team, const simt::group& same, const spot& at,
                              std::uint64_t bits) const {
    return share(team, same, at, bits, same.rank());
  }

  /// Slots of the words whose turn it is, for those of a team that want one. One turn serves all
  /// classes: it selects a word of each, for all lanes that want the class. In a used heap, whose
  /// pool seems dry, words have few free slots: a small group takes them if they serve half of it,
  /// and each lane without a slot continues on its own with other words. So words fill up evenly,
  /// and all lanes look at the same time. A collective. \param at whose turn: concurrent calls
  /// should have different ones, evenly distributed \param fresh see `warpheap_classes::hinted`
  template <class Team>
  WARPHEAP_DEVICE place take_in_turn(const Team& team, bool wants, std::uint32_t at,
                                     bool fresh) const {
    warpheap_state::turn turn{0};
    if (team.is_leader()) turn = supply_.whole().next_turn(at);
    turn.bits = team.broadcast(turn.bits);
    const bool dry = turn.is_dry();
    place got = take_together(team, wants, turn.number(), dry, fresh);
    if (team.any(dry)) return take_alone(team, wants, turn.number(), got);
    if (got.chunk == none) got.slot |= turn.number() << 1;
    return got;
  }

  /// Slots of the word whose turn it is, for a part of a warp that wants one class, in a heap with
  /// room. A collective. \param at as for `take_in_turn`
  WARPHEAP_DEVICE place take_as_one(const simt::group& team, std::uint32_t at) const {
    spot where;
    std::uint64_t bits = 0;
    if (team.is_leader()) {
      const auto turn = supply_.whole().next_turn(at);
      where = supply_.classes().hinted(of_, turn.number(), shape_.words);
      if (where.chunk != none) bits = claim_first(where, team.size());
    }
    return share(team, team, where, bits);
  }
  /// A turn for a caller without a team, in a used heap, so that words fill up evenly.
  WARPHEAP_DEVICE std::uint32_t lone_turn() const {
    return lane_turn(supply_.whole().next_turn(simt::rough_noise() >> 28).number());
  }
  /// The same in a heap with room, where any word will do: without an atomic.
  WARPHEAP_DEVICE static std::uint32_t drawn_turn() {
    return simt::rough_noise() + static_cast<std::uint32_t>(simt::lane_id()) * far_turn;
  }
  /// A slot of the words that follow a turn, for a caller without a team.
  WARPHEAP_DEVICE place take_lone(std::uint32_t turn) const {
    place got;
    simt::repeat<Config.lone_visits>([&] {
      got = take_one(turn);
      turn += far_turn;
      return got.chunk != none;
    });
    return got;
  }

 private:
  /// The distance from one turn to another whose word is elsewhere.
  static constexpr std::uint32_t far_turn = 0x9e3779b1u;

  WARPHEAP_DEVICE place place_at(const spot& at, int bit) const {
    return {at.chunk, at.word * shape_.per_word + static_cast<std::uint32_t>(bit)};
  }
  WARPHEAP_DEVICE typename chunks::target target_at(const spot& at) const {
    return {at.chunk, at.word, owner(), shape_};
  }

  /// One of as many turns as a warp has lanes, which follow a turn of its lanes: they may share it,
  /// or have drawn the same place.
  WARPHEAP_DEVICE static std::uint32_t lane_turn(std::uint32_t turn) {
    return turn * simt::warp_size + static_cast<std::uint32_t>(simt::lane_id());
  }

  /// One word for all lanes that call together and want the same class. \param dry whether words
  /// have few free slots
  template <class Team>
  WARPHEAP_DEVICE place take_together(const Team& team, bool wants, std::uint32_t turn, bool dry,
                                      bool fresh) const {
    const simt::group same = team.match(wants ? of_ : none);
    spot at;
    std::uint64_t bits = 0;
    if (same.is_leader() && wants && (!dry || same.size() <= Config.most_sharing)) {
      at = supply_.classes().hinted(of_, turn, shape_.words, fresh);
      // Most words are empty when memory is plentiful, and the claim itself shows their contents.
      if (at.chunk != none) {
        bits = dry ? claim_quickly(at, chunks::empty_word(owner()),
                                   {.want = same.size(), .least = (same.size() + 1) / 2})
                   : claim_first(at, same.size());
      }
    }
    return share(team, same, at, bits);
  }
  WARPHEAP_DEVICE std::uint64_t claim_quickly(const spot& at, std::uint64_t seen,
                                              const wish& wanted) const {
    return counted_in(at, supply_.chunks().template claim_quickly<Config.claim_tries>(
                              target_at(at), seen, wanted));
  }
  /// A word whose first slots the caller has taken is in use from now on.
  WARPHEAP_DEVICE std::uint64_t counted_in(const spot& at,
                                           const typename chunks::claimed& won) const {
    if (won.was_empty) supply_.chunks().count_in(at.chunk);
    return won.bits;
  }

  /// For each lane that still wants a slot, a slot of a different word: a turn is followed by as
  /// many words as there are lanes. A collective.
  template <class Team>
  WARPHEAP_DEVICE place take_alone(const Team& team, bool wants, std::uint32_t turn,
                                   place got) const {
    turn = lane_turn(turn);
    for (int visits = 0; visits < Config.spread_visits; ++visits) {
      const bool looks = wants && got.chunk == none;
      if (!team.any(looks)) break;
      if (looks) got = take_one(turn);
      turn += far_turn;
    }
    team.sync();
    return got;
  }
  /// A slot of the word of a turn.
  WARPHEAP_DEVICE place take_one(std::uint32_t turn) const {
    const spot at = supply_.classes().hinted(of_, turn, shape_.words);
    if (at.chunk == none) return {};
    const std::uint64_t bits = claim_quickly(at, supply_.chunks().word(at.chunk, at.word), wish{});
    return bits == 0 ? place{} : only_place_of(at, bits);
  }

  const supply& supply_;
  std::uint32_t of_;
  warpheap_slots shape_;
};

WARPHEAP_END_NAMESPACE
