// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the manager `warpheap` finds a free slot of a class.
///
/// Lanes that want the same class at the same time form a group; its leader takes a turn, which
/// selects a word of the class, and claims slots in it for the whole group. Successive groups have
/// different words, so in a heap with room this serves nearly all of them. In a part of a warp
/// whose lanes want different classes, each draws a word instead. A separate function serves the
/// rest, and all requests of a class that is nearly full: another turn for the group, after growth
/// of the class if there is plenty of memory in the pool, or, if it has much of the heap, the next
/// slots in its order (ordered_words.hpp); slots that are on offer; growth; another turn; listed
/// words that each lane draws for itself; growth again; and finally the proof that there is
/// nothing. In a class of which most words are marked as full, requests begin with the offers.

#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/class_exhaustion.hpp"
#include "warpheap/managers/warpheap/class_growth.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/ordered_words.hpp"
#include "warpheap/managers/warpheap/scarce_search.hpp"
#include "warpheap/managers/warpheap/slot_claims.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call.
template <warpheap_config Config>
class warpheap_slot_search {
 public:
  using supply = warpheap_supply<Config>;
  using slot_claims = warpheap_slot_claims<Config>;
  using class_exhaustion = warpheap_class_exhaustion<Config>;
  using class_growth = warpheap_class_growth<Config>;
  using scarce_search = warpheap_scarce_search<Config>;
  using ordered_words = warpheap_ordered_words<Config>;
  using place = typename slot_claims::place;

  static constexpr std::uint32_t none = supply::none;

  WARPHEAP_DEVICE warpheap_slot_search(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), words_(from, of) {}

  WARPHEAP_DEVICE std::uint32_t slot_bytes() const { return words_.shape().bytes; }

  WARPHEAP_DEVICE place take() const {
    if (simt::is_whole_warp(&supply_.whole())) {
      const simt::whole_warp team;
      const bool wants = !words_.is_nearly_full();
      place got;
      if (team.any(wants)) got = words_.take_in_turn(team, wants, own_turn(), false);
      return take_rest(team, got);
    }
    const simt::group team = simt::coalesced(&supply_.whole());
    place got;
    // Voted on: lanes may have different hints.
    if (team.any(supply_.whole().seems_dry())) {
      const auto came = simt::call_apart(&take_scarce_apart, of_, supply_.copy());
      got = came.got;
      if (came.is_open) {
        got = simt::call_apart(&search_on_apart, true, came.made, of_, supply_.copy());
      }
      team.sync();  // so that they go on together
      return got;
    }
    // Inline, without matching lanes: a call costs as much as all of this (docs/decisions/0027).
    const bool wants = !words_.is_tight();
    if (team.all(team.broadcast(of_) == of_)) {
      if (team.any(wants)) got = words_.take_as_one(team, own_turn());
    } else if (wants) {
      got = words_.take_lone(slot_claims::drawn_turn());
    }
    return take_rest(team, got);
  }

 private:
  /// About as long as growth takes, so that no lane grows the class when enough is on its way.
  static constexpr std::uint32_t wait_ns = 8000;
  /// The wait before a lane that lost a slot to others looks again, which doubles the first times,
  /// so that fewer look at once.
  static constexpr std::uint32_t pause_ns = 2000;
  static constexpr int most_paused = 2;
  /// How many more turns a group takes of which a word has served a part, in a class that keeps an
  /// order, and whose words do not suit warps.
  static constexpr int left_over_turns = 2;
  /// The number of turns that each make growth twice as likely, and of all turns.
  static constexpr int most_doubled = 16;
  static constexpr int most_turns = 64;

  using step = typename class_growth::step;
  /// What lanes that call together make together, each as long as it goes on without a slot.
  struct shared_steps {
    /// Formed by each function: lanes of different functions must not wait for each other.
    simt::group team;
    place got{};
    bool going = true;

    WARPHEAP_DEVICE void look(const auto& step) {
      if (going) got = step();
      end();
    }
    WARPHEAP_DEVICE void end() {
      team.sync();
      going = going && got.chunk == none;
    }
  };

  /// Consecutive warps, such as those of a launch, use the places of turns one after the other.
  WARPHEAP_DEVICE static std::uint32_t own_turn() {
    return static_cast<std::uint32_t>(simt::warp_rank());
  }
  /// What `team` still wants after its turn. A collective.
  template <class Team>
  WARPHEAP_DEVICE place take_rest(const Team& team, place got) const {
    // If most words have room, another turn finds some with the fewest steps. If there is plenty of
    // memory, the class grows alongside it, until one turn is enough for all.
    if (got.chunk == none && !words_.is_tight() && !supply_.whole().seems_dry()) {
      // A word that had room for some of the group tells that others have, too, and a launch ends
      // sooner if no lane lets the class grow for the few of them that get none.
      const bool left_over = got.is_left_over();
      if (left_over) {
        got = simt::call_apart(&take_in_turn_apart, of_, supply_.copy(), own_turn());
      }
      if (got.chunk == none) {
        const std::uint32_t saw = got.slot | (left_over ? 1u : 0u);
        got = simt::call_apart(&take_again_apart, own_turn(), saw, of_, supply_.copy());
      }
    }
    if (got.chunk == none) got = simt::call_apart(&take_more_apart, of_, supply_.copy());
    team.sync();  // so that they go on together
    return got;
  }

  /// Out of line, because it is seldom needed.
  WARPHEAP_RARE static place take_in_turn_apart(std::uint32_t of, const supply& from,
                                                std::uint32_t at) {
    return slot_claims(from, of).take_in_turn(simt::coalesced(&from.whole()), true, at, true);
  }
  /// The same after the class may have grown. In a class that keeps an order, the next slots in it;
  /// other turns first, if words have room: blocks were freed, and the order only goes on to new
  /// chunks. \param saw `place::slot` of the turns that have found nothing
  WARPHEAP_RARE static place take_again_apart(std::uint32_t at, std::uint32_t saw, std::uint32_t of,
                                              const supply& from) {
    const bool was_spoiled = simt::call_apart(&drop_hint_apart, saw >> 1, of, from);
    const bool ordered = ordered_words(from, of).keeps_order();
    // If words suit warps, a part of a warp is left over only in a class with too few of them.
    const bool left_over = (saw & 1) != 0 && !from.classes().slots(of).suits_warps();
    const bool turns_on = ordered && (was_spoiled || left_over);
    place got;
    for (int turns = 0; turns < left_over_turns; ++turns) {
      if (!turns_on || got.chunk != none) continue;
      got = simt::call_apart(&take_in_turn_apart, of, from, at);
    }
    const bool wants = ordered && got.chunk == none;
    const place next = simt::call_apart(&take_ordered_apart, wants, of, from);
    if (wants) got = next;
    if (!ordered) got = simt::call_apart(&grow_ahead_apart, from, of, false);
    return got.chunk != none ? got : simt::call_apart(&take_in_turn_apart, of, from, at);
  }
  /// Whether the hint of a turn led to no chunk of the class: then it is gone, lest the next warp
  /// come here for it. By one lane for those of a class, as each drops a hint. A collective of
  /// those that call together, for any classes.
  WARPHEAP_RARE static bool drop_hint_apart(std::uint32_t turn, std::uint32_t of,
                                            const supply& from) {
    const simt::group team = simt::coalesced(&from.whole());
    const simt::group same = team.match(of);
    bool was_spoiled = false;
    if (turn != 0 && same.is_leader()) {
      was_spoiled = from.classes().drop_hint(of, turn, from.classes().slots(of).words);
    }
    team.sync();
    return team.shuffle(static_cast<std::uint32_t>(was_spoiled), same.leader()) != 0;
  }
  WARPHEAP_RARE static place take_ordered_apart(bool wants, std::uint32_t of, const supply& from) {
    return ordered_words(from, of).take(wants);
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
    return class_growth(from, of).choose(turn < most_doubled ? turn : most_doubled);
  }
  WARPHEAP_RARE static place grow_ahead_apart(const supply& from, std::uint32_t of, bool others) {
    return class_growth(from, of).grow_ahead(others);
  }
  /// Its parameters are in reverse order compared with those of the function that it calls: see
  /// `simt::call_apart`.
  WARPHEAP_RARE static place take_more_apart(std::uint32_t of, const supply& from) {
    return warpheap_slot_search(from, of).take_more();
  }
  WARPHEAP_RARE static place search_on_apart(bool is_part, std::uint32_t made, std::uint32_t of,
                                             const supply& from) {
    return warpheap_slot_search(from, of).search_on(is_part, made);
  }
  WARPHEAP_DEVICE place take_another_turn() const {
    if (words_.is_tight()) return {};
    return simt::call_apart(&take_in_turn_apart, of_, supply_, simt::rough_noise() >> 28);
  }
  /// The lanes that call together make each step together, whatever their classes, since lanes that
  /// diverge fetch each instruction separately. Each step ends by itself.
  WARPHEAP_DEVICE place take_more() const {
    shared_steps steps{simt::coalesced(&supply_.whole())};
    steps.going = !class_exhaustion(supply_, of_).seem_out();
    steps.look([&] { return simt::call_apart(&take_offered_apart, supply_, of_, false); });
    steps.going = steps.going && !simt::call_apart(&are_out_apart, of_, supply_);
    steps.look([&] {
      // It has grown by what it needs, if it could.
      if (ordered_words(supply_, of_).keeps_order()) return place{};
      return simt::call_apart(&grow_ahead_apart, supply_, of_, true);
    });
    steps.look([&] { return take_another_turn(); });
    steps.look([&] { return simt::call_apart(&take_listed_apart, supply_, of_, false); });
    steps.look([&] { return simt::call_apart(&search_on_apart, false, 0u, of_, supply_); });
    return steps.got;
  }
  /// What remains when a first look has found nothing. A collective of those that call together,
  /// for any classes: those that have looked in different ways may meet here, so it is not a part
  /// of `take_more`. \param is_part whether the caller is a part of a warp in a heap that seemed
  /// dry: then the request is over when there are other offers than were `made`, and no chunks. So
  /// is that of a whole warp, once it has looked and waited (docs/decisions/0063 and 0064).
  ///
  /// Ends: turns are bounded. While there are chunks, each turn makes it likelier that the next one
  /// requests a chunk, and a turn that requests one in vain has lost to a lane that got it, or that
  /// is about to use a chunk, or has cleared as many words of the empties as it may. Once a request
  /// may have cleared as many as there are, its turns count as looks, although others may note
  /// chunks all the time. Lanes wait for a limited time, and for those that called with them.
  WARPHEAP_DEVICE place search_on(bool is_part, std::uint32_t made) const {
    shared_steps steps{simt::coalesced(&supply_.whole())};
    // Counted so that there are as many left for either kind of caller.
    int looks = is_part ? Config.most_looks - Config.part_looks : 0;
    bool gives_up = false;
    // In a small heap a few more, since there it loses single chunks to others.
    const std::uint32_t all = supply_.empties().leaf_words() + 16;
    std::uint32_t cleared = 0;
    for (int turn = 0; turn < most_turns && steps.team.any(steps.going); ++turn) {
      auto next = step::wait;
      if (steps.going) {
        next = simt::call_apart(&next_step_apart, supply_, of_, turn);
        // First the steps that others may be waiting for.
        auto taken = next;
        const int look = is_part ? class_growth::moves::first_of_part + turn : turn;
        steps.got = class_growth(supply_, of_).grow(taken, look);
        if (next == step::wait) simt::backoff(wait_ns);
        if (next == step::none_left) steps.going = !simt::call_apart(&are_out_apart, of_, supply_);
        const bool in_vain = next != step::wait && taken == step::none_left;
        if (in_vain && next != step::none_left) cleared += class_growth::words_at_look(look);
        if (steps.going && in_vain && (next == step::none_left || cleared >= all)) {
          if (!is_part && looks == 0) made = supply_.offers().made(of_);
          simt::backoff(pause_ns << (looks < most_paused ? looks : most_paused));
          ++looks;
        }
      }
      steps.end();
      // Without chunks, the remaining slots must be found.
      const bool thorough = next == step::none_left;
      steps.look([&] { return simt::call_apart(&take_offered_apart, supply_, of_, thorough); });
      // The class may have grown.
      steps.look([&] { return thorough ? place{} : take_another_turn(); });
      steps.look([&] { return simt::call_apart(&take_listed_apart, supply_, of_, thorough); });
      if (!steps.going) continue;
      // While no lane frees, what a lane loses serves another request, and there may be as many
      // slots as requests, so it looks on. While blocks are freed and taken, it might never end.
      const bool freed = (is_part || looks != 0) && supply_.offers().has_made(of_, made);
      gives_up =
          turn + 1 == most_turns || looks >= (freed ? Config.most_looks : Config.most_undisturbed);
      const bool no_chunks = cleared >= all || !supply_.seems_to_have_chunks();
      steps.going = !gives_up && !(freed && no_chunks);
    }
    steps.going = steps.got.chunk == none && gives_up;
    if (!steps.team.any(steps.going)) return steps.got;
    steps.going = steps.going && simt::call_apart(&has_listed_apart, of_, supply_);
    steps.look([&] { return simt::call_apart(&take_listed_apart, supply_, of_, true); });
    return steps.got;
  }

  const supply& supply_;
  std::uint32_t of_;
  slot_claims words_;
};

WARPHEAP_END_NAMESPACE
