// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the manager `warpheap` finds a free slot of a class.
///
/// Lanes that want the same class at the same time form a group; its leader takes a turn, which
/// names a word of the class, and claims in it for the whole group. Groups that come one after the
/// other have different words, so on a heap with room nearly all are served by that. What is left,
/// and all requests of a class that is nearly full, is in a function of its own: slots that are on
/// offer; growth of the class, if there is plenty; another turn for the group; listed words that
/// each lane draws for itself; growth again; and at the end the proof that there is nothing.
///
/// How much a class grows is decided without counting who waits. A group that is left over lets the
/// class grow by a chunk with the probability that it would need a whole one: 32 lanes and a chunk
/// of 1024 slots grow once in 32 cases. So a million lanes that come at once make as many chunks as
/// they need, all at the same time. So that a few lanes do not wait for their luck, one group of a
/// class may always do so.

#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call.
template <warpheap_config Config>
class warpheap_slot_search {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;
  using classes = typename supply::classes_type;
  using spot = typename classes::spot;
  using claims = typename chunks::claims;

  static constexpr std::uint32_t none = supply::none;

  /// A slot; no chunk: there was none.
  struct place {
    std::uint32_t chunk = none;
    std::uint32_t slot = 0;
  };

  WARPHEAP_DEVICE warpheap_slot_search(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), shape_(from.classes().slots(of)) {}

  WARPHEAP_DEVICE std::uint32_t slot_bytes() const { return shape_.bytes; }

  WARPHEAP_DEVICE place take() const {
    const simt::group team = simt::coalesced();
    place got;
    if (!is_tight()) got = take_together();
    if (got.chunk == none) got = simt::call_apart(&take_more_apart, of_, supply_.copy());
    team.sync();  // so that they go on together
    return got;
  }

 private:
  /// About as long as growth takes, so that nobody grows when enough is on its way.
  static constexpr std::uint32_t wait_ns = 8000;
  static constexpr std::uint32_t many_slots = 1024;
  /// Before a lane looks again for what others were faster to take: for so long, then for twice as
  /// long, so that fewer look at once.
  static constexpr std::uint32_t pause_ns = 2000;
  /// Turns that make growth twice as likely each, and all turns.
  static constexpr int most_doubled = 16;
  static constexpr int most_turns = 64;

  enum class step : std::uint32_t { look, grow, grow_for_all, wait, give_up };

  WARPHEAP_DEVICE std::uint32_t owner() const { return chunk_owner::first_class + of_; }
  WARPHEAP_DEVICE bool is_tight() const { return supply_.classes().is_tight(of_, shape_.words); }

  /// Claims up to `want` slots of a word that is believed to be `seen`.
  WARPHEAP_DEVICE std::uint64_t claim(const spot& at, std::uint64_t seen, int want, int from,
                                      claims which = claims::unmarked) const {
    const auto won =
        supply_.chunks().claim(at.chunk, at.word, seen, owner(), shape_, want, from, which);
    if (won.was_empty) supply_.chunks().count_in(at.chunk);
    return won.bits;
  }
  /// The `k`-th of the slots that were claimed.
  WARPHEAP_DEVICE place place_of(const spot& at, std::uint64_t bits, int k) const {
    // Mostly they are in a row.
    int bit = lowest_bit(bits) + k;
    if (bits >> lowest_bit(bits) != low_bits<std::uint64_t>(popcount(bits))) {
      bit = kth_set_bit(bits, k);
    }
    return {at.chunk, at.word * shape_.per_word + static_cast<std::uint32_t>(bit)};
  }

  /// Hands out the slots that the leader of `same` has claimed, to its members. A collective of
  /// `team`, and not of each group of it: groups go on side by side.
  WARPHEAP_DEVICE place share(const simt::group& team, const simt::group& same, spot at,
                              std::uint64_t bits) const {
    const int leader = same.leader();
    bits = team.shuffle(bits, leader);
    at.chunk = team.shuffle(at.chunk, leader);
    at.word = team.shuffle(at.word, leader);
    team.sync();  // what the leader has acquired is the members' as well
    return same.rank() < popcount(bits) ? place_of(at, bits, same.rank()) : place{};
  }

  /// One word for all lanes that call together and want the same class.
  WARPHEAP_DEVICE place take_together() const {
    const simt::group team = simt::coalesced();
    // One turn serves all classes.
    std::uint32_t turn = 0;
    if (team.is_leader()) turn = supply_.whole().next_turn();
    turn = team.broadcast(turn);
    const simt::group same = team.match(of_);
    spot at;
    std::uint64_t bits = 0;
    if (same.is_leader()) {
      at = supply_.classes().hinted(of_, turn, shape_.words);
      // Most words are empty when memory is plentiful, and what they are is learnt from the claim.
      if (at.chunk != none) bits = claim(at, chunks::empty_word(owner()), same.size(), 0);
    }
    return share(team, same, at, bits);
  }

  /// Out of line, for what is seldom needed.
  WARPHEAP_RARE static place take_together_apart(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).take_together();
  }
  WARPHEAP_RARE static place take_offered_apart(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).take_offered();
  }
  WARPHEAP_RARE static place take_listed_apart(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).take_listed();
  }
  /// Its parameters are the other way round than those of what it calls: see `simt::call_apart`.
  WARPHEAP_RARE static place take_more_apart(std::uint32_t of, const supply& from) {
    return warpheap_slot_search(from, of).take_more();
  }
  /// Ends: turns are bounded. While there are chunks, each makes it likelier that the next one asks
  /// for one, and a turn that asks and gets nothing has lost to a lane that did, or that is about
  /// to use a chunk. Lanes wait for a time, and for those that called with them: these make each
  /// step together, whatever their classes, since lanes that go on apart fetch each instruction
  /// anew. Each step ends by itself.
  WARPHEAP_DEVICE place take_more() const {
    const simt::group team = simt::coalesced();
    place got;
    bool going = true;
    const auto attempt = [&](const auto& look) {
      if (going) got = look();
      team.sync();
      going = going && got.chunk == none;
    };
    attempt([&] { return simt::call_apart(&take_offered_apart, supply_, of_); });
    going = going && !are_out();
    attempt([&] { return grow_ahead(); });
    attempt([&] {
      return is_tight() ? place{} : simt::call_apart(&take_together_apart, supply_, of_);
    });
    attempt([&] { return simt::call_apart(&take_listed_apart, supply_, of_); });
    int looks = 0;
    for (int turn = 0; turn < most_turns && team.any(going); ++turn) {
      auto next = step::give_up;
      if (going) next = next_step(turn);
      team.sync();
      // First what others may wait for.
      if (next == step::grow || next == step::grow_for_all) got = grow_together(next);
      if (next == step::wait) simt::backoff(wait_ns);
      if (next == step::look) simt::backoff(pause_ns << looks++);
      team.sync();
      going = going && next != step::give_up && got.chunk == none;
      attempt([&] { return simt::call_apart(&take_offered_apart, supply_, of_); });
      attempt([&] { return simt::call_apart(&take_listed_apart, supply_, of_); });
      going = going && looks < Config.most_looks;
    }
    return got;
  }

  /// What the lanes of the caller's class do next in this `turn`. A collective of those that call
  /// together, for any classes.
  WARPHEAP_DEVICE step next_step(int turn) const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of_);
    auto next = step::look;
    team.sync();  // as in `are_out`
    if (same.is_leader()) next = choose_step(same.size(), turn);
    team.sync();
    return static_cast<step>(team.shuffle(static_cast<std::uint32_t>(next), same.leader()));
  }
  /// Lets the classes of those that call together grow, which may do so for others or not.
  WARPHEAP_DEVICE place grow_together(step how) const {
    const simt::group same =
        simt::coalesced().match(of_ * 2 + (how == step::grow_for_all ? 1u : 0u));
    return simt::call_apart(&grow_apart, supply_, of_, same.mask(), how == step::grow_for_all);
  }

  /// What a group of this many lanes does in its `turn`.
  WARPHEAP_DEVICE step choose_step(int lanes, int turn) const {
    if (!supply_.has_chunks()) return is_out() ? step::give_up : step::look;
    // When chunks are scarce, what others have begun may be enough.
    const int doubled = turn < most_doubled ? turn : most_doubled;
    if ((turn != 0 || ahead() != 0) && needs_chunk(lanes << doubled)) return step::grow;
    return begin_growth() ? step::grow_for_all : step::wait;
  }

  /// Lets the class grow before it is full, if there is plenty. A collective of those that call
  /// together, for any classes.
  WARPHEAP_DEVICE place grow_ahead() const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of_);
    bool grows = same.is_leader() && needs_chunk(ahead() * same.size());
    team.sync();
    grows = team.shuffle(static_cast<std::uint32_t>(grows), same.leader()) != 0;
    place got;
    if (grows) got = simt::call_apart(&grow_apart, supply_, of_, same.mask(), false);
    team.sync();
    return got;
  }
  /// How many chunks the class may take for one that it needs: none before it is full, if less than
  /// half of the heap is in the pool. Slots are found at once if words are not full. Small ones
  /// take little memory.
  WARPHEAP_DEVICE int ahead() const {
    const int left = supply_.eighths_left();
    return left >= 8 && shape_.count >= many_slots ? 8 : left >= 4 ? 2 : 0;
  }
  /// True with the probability that this many lanes need a whole chunk.
  WARPHEAP_DEVICE bool needs_chunk(int lanes) const {
    const auto drawn = static_cast<std::uint32_t>(simt::noise() >> 32);
    return scale_to(drawn, shape_.count) < static_cast<std::uint32_t>(lanes);
  }
  WARPHEAP_DEVICE bool begin_growth() const {
    const simt::atomic_ref growing(supply_.classes().of(of_).growing);
    std::uint32_t nobody = 0;
    return growing.load(simt::order::relaxed) == 0 &&
           growing.compare_exchange(nobody, 1, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void end_growth() const {
    simt::atomic_ref(supply_.classes().of(of_).growing).store(0, simt::order::relaxed);
  }
  /// Adds a chunk, whose first word is the team's. Or the class has an empty one, of which the
  /// team takes what it finds. A collective.
  WARPHEAP_RARE static place grow_apart(const supply& from, std::uint32_t of, simt::lane_mask team,
                                        bool for_all) {
    return warpheap_slot_search(from, of).grow(simt::group(team), for_all);
  }
  WARPHEAP_DEVICE place grow(const simt::group& team, bool for_all) const {
    bool is_new = false;
    const std::uint32_t chunk =
        simt::call_apart(&supply::add_chunk, supply_, of_, team.mask(), &is_new);
    if (for_all && team.is_leader()) end_growth();
    team.sync();
    if (chunk == none) return {};
    const auto slot = static_cast<std::uint32_t>(team.rank());
    if (is_new) return slot < shape_.per_word ? place{chunk, slot} : place{};
    const spot at{chunk, 0};
    std::uint64_t bits = 0;
    // Marked words, too: their slots are on offer, to lanes that may be slow. A slot that is taken
    // without its offer leaves one offer too many, which leads to nothing.
    if (team.is_leader()) {
      bits = claim(at, chunks::empty_word(owner()), team.size(), 0, claims::offered);
    }
    return share(team, team, at, bits);
  }

  /// Takes a slot that is on offer. Ends: each turn takes an offer away, and who makes one has
  /// freed a block.
  WARPHEAP_DEVICE place take_offered() const {
    if (supply_.offers().seem_gone(of_)) return {};
    for (;;) {
      const std::uint32_t word = supply_.offers().take(of_);
      if (word == warpheap_offers::none) return {};
      const std::uint32_t stride = supply_.chunks().stride();
      const spot at{word / stride, word % stride};
      const std::uint64_t seen = supply_.chunks().word(at.chunk, at.word);
      const std::uint64_t bits = claim(at, seen, 1, 0, claims::offered);
      if (bits != 0) return place_of(at, bits, 0);
    }
  }

  /// Takes a slot of a listed word, unless enough others try to: a word that is listed near the end
  /// of memory would draw thousands of lanes, and serve a few. A collective of those that call
  /// together, for any classes.
  WARPHEAP_DEVICE place take_listed() const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of_);
    // Nobody is counted while most words have room.
    const bool counts = same.is_leader() && is_tight();
    int may = same.size();
    if (counts) {
      may = supply_.classes().begin_search(of_, may, shape_.per_word, Config.least_searching);
    }
    team.sync();
    const auto granted =
        static_cast<int>(team.shuffle(static_cast<std::uint32_t>(may), same.leader()));
    place got;
    if (same.rank() < granted) got = search_listed();
    team.sync();
    if (counts && granted != 0) supply_.classes().end_search(of_, granted);
    team.sync();
    return got;
  }
  /// Takes a slot of a listed word for the caller alone: so the lanes of a warp look at many places
  /// at once. Ends: a visit counts unless it is one of the first, or marks a word, which stays so
  /// until a slot of it is freed.
  WARPHEAP_DEVICE place search_listed() const {
    const simt::group team = simt::coalesced();
    place got;
    int lost = 0;
    // The lanes of a team make their visits together.
    for (int visits = 0; team.any(got.chunk == none && lost < Config.most_lost); ++visits) {
      if (got.chunk != none || lost >= Config.most_lost) continue;
      // While most words have room, marks are not worth what they cost those who free.
      const auto came = visit(visits >= Config.lenient_visits, got);
      if (came == visited::nothing) lost = Config.most_lost;
      if (came == visited::lost) ++lost;
    }
    return got;
  }
  enum class visited { served, full, lost, nothing };
  /// Takes a slot of a listed word that is drawn, or sees to it that it is not drawn again.
  WARPHEAP_DEVICE visited visit(bool marks, place& got) const {
    const std::uint64_t noise = simt::noise();
    spot at{supply_.classes().open(of_).draw(noise), 0};
    if (at.chunk == none) return visited::nothing;
    at.word = supply_.listed().draw(at.chunk, mix64(noise));
    if (at.word == warpheap_listed_words::none) {
      // Who took its last word from the list takes the chunk out of the set. If that lane saw an
      // older state, one of those who come does it.
      if (noise >> 60 == 0) simt::call_apart(&supply::forget, supply_, of_, at.chunk);
      return visited::lost;
    }
    const std::uint64_t seen = supply_.chunks().word(at.chunk, at.word);
    const auto from =
        static_cast<int>(scale_to(static_cast<std::uint32_t>(noise >> 32), shape_.per_word));
    const std::uint64_t bits = claim(at, seen, 1, from);
    if (bits != 0) {
      got = place_of(at, bits, 0);
      return visited::served;
    }
    if (!marks) return visited::full;
    const bool marked = simt::call_apart(&supply::retire, supply_, of_, at.chunk, at.word);
    return marked ? visited::full : visited::lost;
  }

  /// Whether memory certainly was exhausted at a moment of the call: the class had no slot all the
  /// time between the two looks at it, and in between the heap had no chunk for it.
  WARPHEAP_DEVICE bool is_out() const {
    if (supply_.classes().seem_marked(of_) && supply_.offers().seem_gone(of_) &&
        supply_.seems_out()) {
      // So it was when the multiprocessor looked: at different moments, but since this lane has
      // acquired anything. The last chunks may have come to the class in between: its count, loaded
      // behind this fence as in `supply::is_out`, says so. In PTX's model a hint does not
      // synchronise; but it was loaded from memory after the proof had come there, which is after
      // all that the proof relies on. The multiprocessor looks again for the next request.
      simt::fence(simt::order::acquire);
      if (supply_.classes().are_marked(of_)) return true;
    }
    const std::uint64_t marks = supply_.classes().all_marked(of_);
    return marks != 0 && !supply_.offers().any(of_) && supply_.is_out() &&
           supply_.classes().all_marked(of_) == marks && !supply_.offers().any(of_);
  }

  /// One look a class for those that call together.
  WARPHEAP_DEVICE bool are_out() const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of_);
    team.sync();  // what a member knows to be free is no less so for the leader
    const bool out = same.is_leader() && is_out();
    team.sync();
    return team.shuffle(static_cast<std::uint32_t>(out), same.leader()) != 0;
  }

  const supply& supply_;
  std::uint32_t of_;
  warpheap_slots shape_;
};

WARPHEAP_END_NAMESPACE
