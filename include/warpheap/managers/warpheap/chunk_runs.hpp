// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/warpheap/chunk_moves.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/exhaustion.hpp"
#include "warpheap/sync/group_runs.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Runs of chunks for the large blocks of the manager `warpheap`. Lives for one call.
template <warpheap_config Config>
class warpheap_chunk_runs {
 public:
  using supply = warpheap_supply<Config>;

  static constexpr std::uint32_t none = supply::none;

  WARPHEAP_DEVICE explicit warpheap_chunk_runs(const supply& of) : supply_(of) {}

  /// The first of `wanted.length` consecutive chunks, or none if there are no such chunks:
  /// immediately, if that is known. A collective of those that call together, which search
  /// together. Looks again only if other lanes had chunks in hand that came back or may come back,
  /// or got what this one wanted, and a bounded number of times. Waits only for lanes that never
  /// wait, and for those that called together.
  WARPHEAP_DEVICE std::uint32_t take(run_shape wanted) const {
    const simt::group team = simt::coalesced(&supply_.whole());
    std::uint32_t first = none;
    bool going = true;
    for (int looks = 0;;) {
      going = going && looks < most_looks && is_possible(wanted);
      if (!team.any(going)) return first;
      const std::uint32_t before = together(team, [&] { return supply_.claims_returned(); });
      const outcome got = simt::call_apart(&look, supply_, team.mask(), wanted, going, looks);
      if (got.first != none) {
        first = got.first;
        own(first, wanted.length);
      }
      going = going && got.first == none;
      const bool in_vain = going && !got.fits;
      if (going) ++looks;
      if (!team.any(in_vain)) continue;
      const bool collects = simt::call_apart(&help, supply_, team.mask(), wanted, in_vain, looks);
      // The looks at the words are relaxed, so that many are under way at a time. Pairs with the
      // release with which others took what these looks saw gone: they had announced the claim
      // before, so `claims_returned_since` sees it.
      simt::fence(simt::order::acquire);
      // Others hold parts of runs, or chunks that they collect, for a moment, and never wait.
      const std::uint32_t others =
          together(team, [&] { return supply_.claims_returned_since(before); });
      const bool wants_one = in_vain && wanted.length == 1;
      const bool may_miss =
          team.any(wants_one) && together(team, [&] { return may_have_missed(); });
      if (in_vain) {
        going = collects || others != 0 || (wants_one && may_miss);
        if (others > crowd) looks = looks_beside_crowd(looks, supply_.empties().leaf_words());
      }
      simt::backoff(wait_ns);
    }
  }

  /// As how many looks `looks` count whose last one met a crowd. If the one before it may not have
  /// cleared all `words` of the empties, another one follows, which may find what was behind them.
  WARPHEAP_HD static constexpr int looks_beside_crowd(int looks, std::uint32_t words) {
    using moves = warpheap_chunk_moves<Config>;
    const int next = looks + crowded_look - 1;
    const bool ends = next < most_looks || looks >= most_looks ||
                      words <= moves::words_at_look(looks - crowded_look);
    return ends ? next : most_looks - 1;
  }

  /// A collective of those that call together.
  WARPHEAP_DEVICE void give(std::uint32_t first) const {
    const simt::group team = simt::coalesced(&supply_.whole());
    const std::uint32_t length = supply_.run_length(first);
    const bool is_in_word = is_one_word(first, length);
    const simt::group same = team.match(is_in_word ? first / 64 : none);
    supply_.chunks().give(first, chunk_owner::nobody);
    if (is_in_word) {
      group_word::insert(same, supply_.pool(), first / 64, bits_of_run(first, length, first / 64));
    } else {
      insert_run(supply_.pool(), first, length);
    }
    // By those that have inserted: see `exhaustion`.
    if (!is_in_word || same.is_leader()) supply_.released();
    team.sync();
  }

 private:
  /// A look in vain, and a run that is lost to others.
  static constexpr int most_looks = 16;
  /// A look in vain while more lanes than this put back parts of runs counts as several: a lane
  /// that looks again loses again (docs/decisions/0030).
  static constexpr std::uint32_t crowd = 32;
  static constexpr int crowded_look = 4;
  static constexpr std::uint32_t wait_ns = 200;

  /// What a look has brought: a run that the caller has claimed, or none; and whether there was
  /// one.
  struct outcome {
    std::uint32_t first = none;
    bool fits = false;
  };

  /// What the leader finds out, for all. A collective; what members did before comes before it, and
  /// it comes before what they do next.
  template <class Question>
  WARPHEAP_DEVICE static auto together(const simt::group& team, const Question& question) {
    decltype(question()) answer{};
    team.sync();
    if (team.is_leader()) answer = question();
    team.sync();
    return team.broadcast(answer);
  }

  /// False if it is known that there is no such run.
  WARPHEAP_DEVICE bool is_possible(run_shape wanted) const {
    return wanted.length <= supply_.backed() && !supply_.whole().chunks.is_out(wanted.length);
  }
  /// Whether a class has a chunk on its way, or notes of several in hand, among which may be the
  /// only empty one; or has put notes back since a look found none. Acquire pairs with the end of
  /// the move: what was put back before that is seen.
  WARPHEAP_DEVICE bool may_have_missed() const {
    return supply_.whole().is_moving() || supply_.empties().examine_any();
  }
  /// Whether the place of a run does not matter, so that lanes can share what there is.
  WARPHEAP_DEVICE static bool is_anywhere(run_shape wanted) { return wanted.step == 1; }

  /// Claims runs out of the pool for those that go on: at first from where the last one was found,
  /// later from a random place, away from others. A collective.
  WARPHEAP_RARE static outcome look(const supply& in, simt::lane_mask members, run_shape wanted,
                                    bool going, int looks) {
    const simt::group team(members);
    const simt::atomic_ref<std::uint32_t> hint(in.whole().run_word);
    outcome got;
    // A single chunk is not searched for word by word unless there seems to be none.
    if (going && (wanted.length == 1 || !is_anywhere(wanted))) {
      got = simt::call_apart(&look_alone, in, wanted, looks);
    }
    const bool shares = going && is_anywhere(wanted) && got.first == none;
    team.sync();
    if (!team.any(shares)) return got;
    const std::uint32_t from =
        team.broadcast(looks == 0 ? hint.load(simt::order::relaxed) : in.any_word());
    outcome seen = simt::call_apart(&search, members, in, sees::pool, wanted.length, from, shares);
    if (!simt::call_apart(&claim, members, in, seen.first, wanted.length)) seen.first = none;
    if (seen.first != none) hint.store(seen.first / 64, simt::order::relaxed);
    team.sync();
    return shares ? seen : got;
  }
  /// The same by one lane: for a single chunk, by hints; and for a run that begins at certain
  /// places.
  WARPHEAP_RARE static outcome look_alone(const supply& in, run_shape wanted, int looks) {
    if (is_anywhere(wanted)) {
      using moves = warpheap_chunk_moves<Config>;
      const std::uint32_t chunk = simt::call_apart(&moves::take, in, moves::words_at_look(looks));
      return {chunk, chunk != none};
    }
    const std::uint32_t first = simt::call_apart(&find_place, wanted, in, sees::pool);
    if (first == none) return {};
    const auto alone = simt::lane_mask::of(simt::lane_id());
    return {simt::call_apart(&claim, alone, in, first, wanted.length) ? first : none, true};
  }

  /// For those that have found no run in the pool. Puts empty chunks there that form a run with the
  /// chunks in it; failing that, one group at a time looks again for runs that begin anywhere, so
  /// that all know if there is none. Returns whether there were such chunks. A collective.
  WARPHEAP_RARE static bool help(const supply& in, simt::lane_mask members, run_shape wanted,
                                 bool in_vain, int looks) {
    const simt::group team(members);
    outcome seen;
    if (team.any(in.empties().peek_any())) {
      const bool shares = in_vain && is_anywhere(wanted);
      seen = simt::call_apart(&search, members, in, sees::empties_too, wanted.length, 0, shares);
      if (in_vain && !shares) {
        seen.first = simt::call_apart(&find_place, wanted, in, sees::empties_too);
      }
      if (seen.first != none) collect(in, seen.first, wanted.length);
      team.sync();
      // Most of what it sees may be in use again.
      const std::uint32_t again =
          team.least(in_vain && seen.first != none ? seen.first / 64 : none);
      const std::uint32_t look = team.least(in_vain ? static_cast<std::uint32_t>(looks) : none);
      if (again != none && look > 1) {
        simt::call_apart(&clear, in, members, again, static_cast<int>(look));
      }
    }
    const bool collects = seen.first != none || seen.fits;
    const std::uint32_t least = team.least(in_vain && !collects ? wanted.length : none);
    if (least != none) simt::call_apart(&prove, in, members, least);
    return collects;
  }
  /// Clears words of the empties: at each look twice as many, as for a single chunk. A collective.
  WARPHEAP_RARE static void clear(const supply& in, simt::lane_mask members, std::uint32_t word,
                                  int look) {
    using moves = warpheap_chunk_moves<Config>;
    const simt::group team(members);
    std::uint32_t hand = 0;
    if (team.is_leader()) {
      in.begin_claim();
      hand = in.whole().begin_move();
    }
    team.sync();
    simt::call_apart(&moves::clear_words, in, word, moves::words_at_look(look), members);
    if (team.is_leader()) {
      in.whole().end_move(hand);
      in.end_claim(false);
    }
    team.sync();
  }
  /// Finds out whether a run of this length is nowhere. A collective.
  WARPHEAP_RARE static void prove(const supply& in, simt::lane_mask members, std::uint32_t length) {
    const simt::group team(members);
    const simt::atomic_ref prover(in.whole().run_prover);
    if (together(team, [&] { return prover.exchange(1, simt::order::relaxed); }) != 0) return;
    exhaustion::token mine{};
    std::uint32_t before = 0;
    if (team.is_leader()) {
      mine = in.whole().chunks.announce();
      before = in.claims_returned();
    }
    team.sync();  // all look after the announcement, and before its end
    const outcome seen =
        simt::call_apart(&search, members, in, sees::exactly, length, 0, team.is_leader());
    team.sync();  // what members have acquired is the leader's, who hands it on (`confirm`)
    if (!team.is_leader()) return;
    if (!seen.fits) in.confirm_out(mine, length, before);
    prover.store(0, simt::order::relaxed);
  }

  /// What a search looks at: the pool, or empty chunks of classes, too; by hints, or in the way
  /// that `exhaustion` asks of searchers.
  enum class sees { pool, empties_too, exactly };
  WARPHEAP_DEVICE static std::uint64_t see_in(const supply& in, sees what, std::uint32_t word) {
    if (what == sees::exactly)
      return in.pool().examine_word(word) | in.empties().examine_word(word);
    return in.pool().peek_word(word) | (what == sees::pool ? 0 : in.empties().peek_word(word));
  }
  /// The first run of a shape, for the caller alone.
  WARPHEAP_RARE static std::uint32_t find_place(run_shape wanted, const supply& in, sees what) {
    return find_run_in(in.pool().leaf_words(), wanted, 0,
                       [&](std::uint32_t word) { return see_in(in, what, word); });
  }
  /// No lane has claimed what it returns. A collective.
  WARPHEAP_RARE static outcome search(simt::lane_mask members, const supply& in, sees what,
                                      std::uint32_t length, std::uint32_t from, bool wants) {
    const simt::group team(members);
    group_run_search found(team, wants ? length : none);
    found.run(in.pool().leaf_words(), from,
              [&](std::uint32_t word) { return see_in(in, what, word); });
    return {found.first(), found.fits()};
  }

  /// Puts those of these chunks that are empty and belong to classes into the pool. Lanes that want
  /// the same ones share the work: each begins at a different place.
  WARPHEAP_DEVICE static void collect(const supply& in, std::uint32_t first, std::uint32_t length) {
    std::uint32_t at = scale_to(static_cast<std::uint32_t>(simt::noise() >> 32), length);
    for (std::uint32_t left = length; left != 0; --left) {
      const std::uint32_t chunk = first + at;
      if (in.empties().contains(chunk)) simt::call_apart(&collect_one, in, chunk);
      at = at + 1 == length ? 0 : at + 1;
    }
  }
  WARPHEAP_RARE static void collect_one(const supply& in, std::uint32_t chunk) {
    const auto alone = simt::lane_mask::of(simt::lane_id());
    in.begin_claim();
    const std::uint32_t hand = in.whole().begin_move();
    if (in.empties().remove(chunk) &&
        simt::call_apart(&warpheap_chunk_moves<Config>::close_apart, in, chunk, alone)) {
      in.pool().insert(chunk);
      in.released();
    }
    in.whole().end_move(hand);
    in.end_claim(false);
  }

  /// Claims a run for each member that passes one. A collective. A run in one word is taken in one
  /// step, or not at all, together with those of other members in that word. A run that is taken
  /// word by word may be put back: others must know.
  WARPHEAP_RARE static bool claim(simt::lane_mask members, const supply& in, std::uint32_t first,
                                  std::uint32_t length) {
    const simt::group team(members);
    const bool is_in_word = first != none && is_one_word(first, length);
    const simt::group same = team.match(is_in_word ? first / 64 : none);
    if (first == none) return false;
    const bitmap_tree& pool = in.pool();
    if (is_in_word) {
      return group_word::remove(same, pool, first / 64, bits_of_run(first, length, first / 64));
    }
    // Many lanes see the same run: those that come too late need not be counted.
    if (!contains_run(pool, first, length)) return false;
    in.begin_claim();
    const bool won = claim_run(pool, first, length);
    in.end_claim(won);
    return won;
  }
  WARPHEAP_DEVICE static bool is_one_word(std::uint32_t first, std::uint32_t length) {
    return first / 64 == (first + length - 1) / 64;
  }

  /// The others remain nobody's: a write for each took most of the time of a large block
  /// (docs/decisions/0031).
  WARPHEAP_DEVICE void own(std::uint32_t first, std::uint32_t length) const {
    supply_.chunks().give(first, chunk_owner::run);
    supply_.run_length(first) = length;
  }

  const supply& supply_;
};

WARPHEAP_END_NAMESPACE
