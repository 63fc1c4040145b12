// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/warpheap/chunk_moves.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"

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
  /// immediately, if that is known. Looks again only if other lanes had chunks in hand that came
  /// back or may come back, and a bounded number of times. Waits only for those lanes, which never
  /// wait.
  /// \pre `wanted.length != 0`
  WARPHEAP_DEVICE std::uint32_t take(run_shape wanted) const {
    for (int looks = 0; looks < most_looks && is_possible(wanted);) {
      const std::uint64_t before = supply_.claims_so_far();
      const std::uint32_t first = simt::call_apart(&find, supply_, wanted);
      if (first != none) {
        own(first, wanted.length);
        return first;
      }
      const bool collects = simt::call_apart(&help, supply_, wanted);
      // The looks at the words are relaxed, so that many are under way at a time. Pairs with the
      // release with which others took what was seen gone: they had announced that before, and
      // `claims_returned_since` sees it.
      simt::fence(simt::order::acquire);
      // Others hold parts of runs, or chunks that they collect, for a moment, and never wait.
      const std::uint32_t others = supply_.claims_returned_since(before);
      if (!collects && others == 0) break;
      looks += others > crowd ? crowded_look : 1;
      simt::backoff(wait_ns);
    }
    return none;
  }

  WARPHEAP_DEVICE void give(std::uint32_t first) const {
    const std::uint32_t length = supply_.run_length(first);
    for (std::uint32_t i = 0; i < length; ++i)
      supply_.chunks().give(first + i, chunk_owner::nobody);
    insert_run(supply_.pool(), first, length);
    supply_.released();
  }

 private:
  static constexpr int most_looks = 16;
  /// A look while more lanes than this put back parts of runs counts as several: a lane that looks
  /// again loses again, and so many looks use up the caches' bandwidth (docs/decisions/0030).
  static constexpr std::uint32_t crowd = 32;
  static constexpr int crowded_look = 4;
  static constexpr std::uint32_t wait_ns = 200;

  /// False if it is known that there is no such run.
  WARPHEAP_DEVICE bool is_possible(run_shape wanted) const {
    return wanted.length <= supply_.backed() && !supply_.whole().chunks.is_out(wanted.length);
  }
  WARPHEAP_DEVICE static bool is_single(run_shape wanted) {
    return wanted.length == 1 && wanted.step == 1;
  }
  /// Takes a run out of the pool, from where the last one was found, for nobody as yet. A lane that
  /// loses one to others continues at a random place, away from them, until there is none from
  /// there on and from the front. Ends: a run is lost only if another lane has taken an element of
  /// it. A single chunk is not searched for word by word, since many lanes may want one.
  WARPHEAP_RARE static std::uint32_t find(const supply& in, run_shape wanted) {
    const bitmap_tree pool = in.pool();
    const std::uint32_t length = wanted.length;
    if (is_single(wanted)) return simt::call_apart(&warpheap_chunk_moves<Config>::take, in);
    const auto run_from = [&](std::uint32_t word) {
      return find_run_in(pool.leaf_words(), wanted, word,
                         [&](std::uint32_t leaf) { return pool.peek_word(leaf); });
    };
    const simt::atomic_ref<std::uint32_t> hint(in.whole().run_word);
    for (std::uint32_t word = hint.load(simt::order::relaxed);; word = in.any_word()) {
      std::uint32_t first = run_from(word);
      if (first == none && word != 0) first = run_from(0);
      if (first == none) return none;
      if (!simt::call_apart(&claim_apart, in, first, length)) continue;
      hint.store((first + length) / 64, simt::order::relaxed);
      return first;
    }
  }
  /// For a caller that has found no run in the pool. Puts empty chunks there that form a run with
  /// the chunks in it; failing that, one lane at a time looks again for one that begins anywhere,
  /// so that all know if there is none. Returns whether there were such chunks.
  WARPHEAP_RARE static bool help(const supply& in, run_shape wanted) {
    const std::uint32_t first =
        is_single(wanted) ? none : in.find_run(wanted, &bitmap_tree::peek_word);
    if (first != none) {
      collect(in, first, wanted.length);
      return true;
    }
    const simt::atomic_ref prover(in.whole().run_prover);
    if (prover.exchange(1, simt::order::relaxed) != 0) return false;
    in.is_out_of_runs(wanted.length);
    prover.store(0, simt::order::relaxed);
    return false;
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

  WARPHEAP_RARE static bool claim_apart(const supply& in, std::uint32_t first,
                                        std::uint32_t length) {
    return warpheap_chunk_runs(in).claim(first, length);
  }
  /// A run in one word is taken in one step, or not at all. A run that is taken word by word may be
  /// put back: others must know.
  WARPHEAP_DEVICE bool claim(std::uint32_t first, std::uint32_t length) const {
    const bool in_parts = first / 64 != (first + length - 1) / 64;
    // Many lanes see the same run: those that come too late need not be counted.
    if (in_parts && !contains_run(supply_.pool(), first, length)) return false;
    if (in_parts) supply_.begin_claim();
    const bool won = claim_run(supply_.pool(), first, length);
    if (in_parts) supply_.end_claim(won);
    return won;
  }

  WARPHEAP_DEVICE void own(std::uint32_t first, std::uint32_t length) const {
    supply_.chunks().give(first, chunk_owner::run);
    for (std::uint32_t i = 1; i < length; ++i)
      supply_.chunks().give(first + i, chunk_owner::run_inside);
    supply_.run_length(first) = length;
  }

  const supply& supply_;
};

WARPHEAP_END_NAMESPACE
