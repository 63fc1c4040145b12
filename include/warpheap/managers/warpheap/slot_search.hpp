// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the manager `warpheap` finds a free slot of a class.
///
/// Lanes that want the same class at the same time form a group; its leader takes a turn, which
/// selects a word of the class, and claims slots in it for the whole group. Successive groups have
/// different words, so in a heap with room this serves nearly all of them. A separate function
/// serves the rest, and all requests of a class that is nearly full: slots that are on offer;
/// growth of the class, if there is plenty of memory; another turn for the group; listed words that
/// each lane draws for itself; growth again; and finally the proof that there is nothing.
///
/// How much a class grows is decided without counting waiting lanes. A group that was not served
/// lets the class grow by a chunk with the probability that it would need a whole one: 32 lanes and
/// a chunk of 1024 slots grow once in 32 cases. So a million lanes that arrive at once make as many
/// chunks as they need, all at the same time. So that a few lanes do not depend on luck, one group
/// of a class may always grow it.

#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/class_exhaustion.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/scarce_search.hpp"
#include "warpheap/managers/warpheap/slot_claims.hpp"
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
  using slot_claims = warpheap_slot_claims<Config>;
  using class_exhaustion = warpheap_class_exhaustion<Config>;
  using scarce_search = warpheap_scarce_search<Config>;
  using chunks = typename slot_claims::chunks;
  using spot = typename slot_claims::spot;
  using claims = typename slot_claims::claims;
  using place = typename slot_claims::place;

  static constexpr std::uint32_t none = supply::none;

  WARPHEAP_DEVICE warpheap_slot_search(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), words_(from, of) {}

  WARPHEAP_DEVICE std::uint32_t slot_bytes() const { return shape().bytes; }

  WARPHEAP_DEVICE place take() const {
    if (simt::is_whole_warp()) {
      const simt::whole_warp team;
      const bool wants = !is_tight();
      place got;
      if (team.any(wants)) got = words_.take_in_turn(team, wants, own_turn());
      return take_rest(team, got);
    }
    const simt::group team = simt::coalesced();
    place got;
    if (supply_.whole().seems_dry()) {
      const auto came = simt::call_apart(&take_scarce_apart, of_, supply_.copy());
      got = came.got;
      if (came.is_open) got = simt::call_apart(&take_more_apart, of_, supply_.copy());
      team.sync();  // so that they go on together
      return got;
    }
    if (!is_tight()) got = simt::call_apart(&take_in_turn_apart, of_, supply_.copy(), own_turn());
    return take_rest(team, got);
  }

 private:
  /// About as long as growth takes, so that no lane grows the class when enough is on its way.
  static constexpr std::uint32_t wait_ns = 8000;
  static constexpr std::uint32_t many_slots = 1024;
  static constexpr std::uint32_t few_slots = 32;
  /// The wait before a lane that lost a slot to others looks again, which doubles each time, so
  /// that fewer look at once.
  static constexpr std::uint32_t pause_ns = 2000;
  /// The number of turns that each make growth twice as likely, and of all turns.
  static constexpr int most_doubled = 16;
  static constexpr int most_turns = 64;

  enum class step : std::uint32_t { look, grow, grow_for_all, wait, give_up };

  /// Consecutive warps, such as those of a launch, use the places of turns one after the other.
  WARPHEAP_DEVICE static std::uint32_t own_turn() {
    return static_cast<std::uint32_t>(simt::warp_rank());
  }
  /// What `team` still wants after its turn. A collective.
  template <class Team>
  WARPHEAP_DEVICE place take_rest(const Team& team, place got) const {
    // If most words have room, another turn finds some with the fewest steps. If there is plenty of
    // memory, the class grows alongside it, until one turn is enough for all.
    if (got.chunk == none && !is_tight() && !supply_.whole().seems_dry()) {
      got = simt::call_apart(&take_again_apart, own_turn(), of_, supply_.copy());
    }
    if (got.chunk == none) got = simt::call_apart(&take_more_apart, of_, supply_.copy());
    team.sync();  // so that they go on together
    return got;
  }

  WARPHEAP_DEVICE const warpheap_slots& shape() const { return words_.shape(); }
  WARPHEAP_DEVICE bool is_tight() const { return supply_.classes().is_tight(of_, shape().words); }

  /// Out of line, because it is seldom needed.
  WARPHEAP_RARE static place take_in_turn_apart(std::uint32_t of, const supply& from,
                                                std::uint32_t at) {
    return slot_claims(from, of).take_in_turn(simt::coalesced(), true, at);
  }
  /// The same after the class may have grown.
  WARPHEAP_RARE static place take_again_apart(std::uint32_t at, std::uint32_t of,
                                              const supply& from) {
    const place got = simt::call_apart(&grow_ahead_apart, from, of);
    return got.chunk != none ? got : simt::call_apart(&take_in_turn_apart, of, from, at);
  }
  WARPHEAP_RARE static typename scarce_search::outcome take_scarce_apart(std::uint32_t of,
                                                                         const supply& from) {
    return scarce_search(from, of).take();
  }
  WARPHEAP_RARE static place take_offered_apart(const supply& from, std::uint32_t of,
                                                bool thorough) {
    return scarce_search(from, of).take_offered(thorough);
  }
  WARPHEAP_RARE static place take_listed_apart(const supply& from, std::uint32_t of,
                                               bool thorough) {
    return scarce_search(from, of).take_listed(thorough);
  }
  WARPHEAP_RARE static bool are_out_apart(std::uint32_t of, const supply& from) {
    return class_exhaustion(from, of).are_out();
  }
  WARPHEAP_RARE static bool has_listed_apart(std::uint32_t of, const supply& from) {
    return class_exhaustion(from, of).has_listed();
  }
  WARPHEAP_RARE static step next_step_apart(const supply& from, std::uint32_t of, int turn) {
    return warpheap_slot_search(from, of).next_step(turn);
  }
  WARPHEAP_RARE static place grow_ahead_apart(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).grow_ahead();
  }
  /// Its parameters are in reverse order compared with those of the function that it calls: see
  /// `simt::call_apart`.
  WARPHEAP_RARE static place take_more_apart(std::uint32_t of, const supply& from) {
    return warpheap_slot_search(from, of).take_more();
  }
  /// Ends: turns are bounded. While there are chunks, each turn makes it likelier that the next one
  /// requests a chunk, and a turn that requests one in vain has lost to a lane that got it, or that
  /// is about to use a chunk. Lanes wait for a limited time, and for those that called with them:
  /// these make each step together, whatever their classes, since lanes that diverge fetch each
  /// instruction separately. Each step ends by itself.
  WARPHEAP_DEVICE place take_more() const {
    const simt::group team = simt::coalesced();
    place got;
    bool going = true;
    const auto attempt = [&](const auto& look) {
      if (going) got = look();
      team.sync();
      going = going && got.chunk == none;
    };
    going = !class_exhaustion(supply_, of_).seem_out();
    attempt([&] { return simt::call_apart(&take_offered_apart, supply_, of_, false); });
    going = going && !simt::call_apart(&are_out_apart, of_, supply_);
    attempt([&] { return simt::call_apart(&grow_ahead_apart, supply_, of_); });
    attempt([&] {
      if (is_tight()) return place{};
      return simt::call_apart(&take_in_turn_apart, of_, supply_, simt::rough_noise() >> 28);
    });
    attempt([&] { return simt::call_apart(&take_listed_apart, supply_, of_, false); });
    int looks = 0;
    for (int turn = 0; turn < most_turns && team.any(going); ++turn) {
      auto next = step::give_up;
      if (going) next = simt::call_apart(&next_step_apart, supply_, of_, turn);
      team.sync();
      // First the steps that others may be waiting for.
      if (next == step::grow || next == step::grow_for_all) got = grow_together(next);
      if (next == step::wait) simt::backoff(wait_ns);
      if (next == step::look) simt::backoff(pause_ns << looks++);
      team.sync();
      going = going && next != step::give_up && got.chunk == none;
      // Without chunks, the remaining slots must be found.
      const bool thorough = next == step::look;
      attempt([&] { return simt::call_apart(&take_offered_apart, supply_, of_, thorough); });
      attempt([&] { return simt::call_apart(&take_listed_apart, supply_, of_, thorough); });
      going = going && looks < Config.most_looks;
    }
    going = got.chunk == none && looks == Config.most_looks;
    if (!team.any(going)) return got;
    going = going && simt::call_apart(&has_listed_apart, of_, supply_);
    attempt([&] { return simt::call_apart(&take_listed_apart, supply_, of_, true); });
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
  /// Lets the classes of those that call together grow, with `step::grow_for_all` on behalf of
  /// other lanes as well.
  WARPHEAP_DEVICE place grow_together(step how) const {
    const simt::group same =
        simt::coalesced().match(of_ * 2 + (how == step::grow_for_all ? 1u : 0u));
    return simt::call_apart(&grow_apart, supply_, of_, same.mask(), how == step::grow_for_all);
  }

  /// What a group of this many lanes does in its `turn`.
  WARPHEAP_DEVICE step choose_step(int lanes, int turn) const {
    if (!supply_.has_chunks()) {
      supply_.whole().set_dry(true);
      return class_exhaustion(supply_, of_).is_out() ? step::give_up : step::look;
    }
    // When chunks are scarce, the growth that others have begun may be enough.
    const int doubled = turn < most_doubled ? turn : most_doubled;
    if ((turn != 0 || ahead() != 0) && needs_chunk(lanes << doubled)) return step::grow;
    return begin_growth() ? step::grow_for_all : step::wait;
  }

  /// Lets the class grow before it is full, if there is plenty of memory. A collective of those
  /// that call together, for any classes.
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
  /// How many chunks the class may take for each one that it needs: none before it is full, if less
  /// than half of the heap is in the pool. Slots are found at once if words are not full. Small
  /// slots take little memory; for large ones, with which a warp fills a chunk, there is nothing to
  /// search.
  WARPHEAP_DEVICE int ahead() const {
    const int left = supply_.eighths_left();
    if (left >= 8 && shape().count >= many_slots) return 8;
    if (left >= 4) return 2;
    return left >= 1 && shape().count <= few_slots ? 1 : 0;
  }
  /// True with the probability that this many lanes need a whole chunk.
  WARPHEAP_DEVICE bool needs_chunk(int lanes) const {
    const auto drawn = static_cast<std::uint32_t>(simt::noise() >> 32);
    return scale_to(drawn, shape().count) < static_cast<std::uint32_t>(lanes);
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
  /// Adds a chunk, whose first word is the team's; or if the class has an empty one, the team takes
  /// what it finds there. A collective.
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
    if (is_new) return slot < shape().per_word ? place{chunk, slot} : place{};
    const spot at{chunk, 0};
    std::uint64_t bits = 0;
    // Including marked words: their slots are on offer, to lanes that may be slow. A slot that is
    // taken without its offer leaves a surplus offer, which leads to nothing.
    if (team.is_leader()) {
      bits = words_.claim(at, chunks::empty_word(words_.owner()), team.size(), 0, claims::offered);
    }
    return words_.share(team, team, at, bits);
  }

  const supply& supply_;
  std::uint32_t of_;
  slot_claims words_;
};

WARPHEAP_END_NAMESPACE
