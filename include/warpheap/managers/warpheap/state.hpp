// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The state of the heap as a whole.
struct warpheap_state {
  /// One of the places where lanes announce that they have chunks in hand, which no other lane can
  /// find at that time.
  struct alignas(64) hand {
    std::uint32_t lanes;
  };
  static constexpr std::uint32_t hands = 16;

  /// The turns taken so far, in several places, so that taking them is not serialised. Each place
  /// goes through its own words (`warpheap_classes::hinted`), so it does not matter that some are
  /// ahead of others.
  struct alignas(128) turns {
    std::uint32_t taken;  ///< and `dry`, which is wrong for a moment after a carry: a hint
  };
  static constexpr std::uint32_t turn_places = 16;
  static constexpr std::uint32_t dry = std::uint32_t{1} << 31;
  /// How often a lane tells all places whether the heap is dry, while others say the opposite.
  static constexpr std::uint32_t most_rounds = 4;

  turns next[turn_places];
  /// Runs that are being claimed: {ended: 32 | in progress: 32}.
  alignas(64) std::uint64_t claims;
  /// The leaf word of the pool where the last run was found.
  std::uint32_t run_word;
  /// Whether a lane is proving that there is no run, so that all lanes know
  /// (`warpheap_chunk_runs::help`).
  std::uint32_t run_prover;
  /// Records that the pool and the empties have no chunk, or that chunks form no run of a length.
  exhaustion chunks;
  hand moving[hands];
  /// The heap has chunks 0..backed-1, the last of which may not be in the pool yet.
  alignas(64) std::uint32_t backed;

  WARPHEAP_DEVICE void format(std::uint32_t chunks_now) {
    for (turns& one : next) one.taken = 0;
    for (hand& one : moving) one.lanes = 0;
    chunks.format();
    claims = 0;
    run_word = 0;
    run_prover = 0;
    // Atomic: at a reset other lanes ask how many chunks there are.
    simt::atomic_ref(backed).store(chunks_now, simt::order::relaxed);
  }

  /// A number that determines the caller's word, and whether the heap seems dry.
  struct turn {
    std::uint32_t bits;  ///< [ dry: 1 | taken: 27 | place: 4 ]

    WARPHEAP_HD bool is_dry() const { return bits >> 31 != 0; }
    WARPHEAP_HD std::uint32_t number() const { return bits & 0x7fffffffu; }
  };
  /// The next turn of place `at % turn_places`.
  WARPHEAP_DEVICE turn next_turn(std::uint32_t at) {
    at %= turn_places;
    const simt::atomic_ref counter(next[at].taken);
    const std::uint32_t taken = counter.fetch_add(1, simt::order::relaxed);
    // The carry has changed `dry`, of this place alone: `set_dry` would not notice.
    if ((taken | dry) == ~std::uint32_t{0}) counter.fetch_add(dry, simt::order::relaxed);
    return {(taken & dry) | (taken * turn_places & ~dry) | at};
  }
  WARPHEAP_DEVICE bool seems_dry() { return (simt::load_hint(next[0].taken) & dry) != 0; }
  /// Tells lanes that take turns that a request for a chunk failed, or that there are chunks again.
  /// Relaxed: they are served either way, only more slowly if the information is wrong.
  WARPHEAP_DEVICE void set_dry(bool now) {
    if (now == seems_dry()) return;
    if (now == ((simt::atomic_ref(next[0].taken).load(simt::order::relaxed) & dry) != 0)) return;
    // Others may say the opposite meanwhile, and some places would keep that, since no lane
    // compares them: one that then finds that in place 0 tells it to the others.
    // Ends after a few rounds. Places that differ then do so until the next change.
    for (std::uint32_t rounds = 0; rounds < most_rounds; ++rounds) {
      for (std::uint32_t i = rounds == 0 ? 0 : 1; i < turn_places; ++i) {
        const simt::atomic_ref taken(next[i].taken);
        now ? taken.fetch_or(dry, simt::order::relaxed)
            : taken.fetch_and(~dry, simt::order::relaxed);
      }
      const std::uint32_t first = simt::atomic_ref(next[0].taken).fetch_or(0, simt::order::relaxed);
      if (now == ((first & dry) != 0)) return;
      now = !now;
    }
  }

  /// Announces that the caller is about to take a chunk. Relaxed: the caller then takes it with
  /// release, and a lane that misses the chunk acquires that.
  WARPHEAP_DEVICE std::uint32_t begin_move() {
    const auto at = static_cast<std::uint32_t>(simt::noise()) % hands;
    simt::atomic_ref(moving[at].lanes).fetch_add(1, simt::order::relaxed);
    return at;
  }
  /// The chunk can be found in its new place. Release pairs with the acquire in `is_moving`.
  WARPHEAP_DEVICE void end_move(std::uint32_t at) {
    simt::atomic_ref(moving[at].lanes).fetch_sub(1, simt::order::release);
  }
  WARPHEAP_DEVICE bool is_moving() {
    std::uint32_t lanes = 0;
    for (hand& one : moving) lanes |= simt::atomic_ref(one.lanes).load(simt::order::acquire);
    return lanes != 0;
  }
};

WARPHEAP_END_NAMESPACE
