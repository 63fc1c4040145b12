// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where the chunks of the manager `warpheap` come from and go to: the pool of chunks without
/// an owner, and chunks of classes that have become empty. Runs of chunks for large blocks:
/// chunk_runs.hpp.

#include "warpheap/core/bits.hpp"
#include "warpheap/managers/warpheap/chunk_set.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/listed_words.hpp"
#include "warpheap/managers/warpheap/offers.hpp"
#include "warpheap/managers/warpheap/state.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/moves.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <warpheap_config Config>
class warpheap_supply {
 public:
  using chunks_type = warpheap_chunks<Config>;
  using classes_type = warpheap_classes<Config>;
  using state = warpheap_state;
  using slots = warpheap_slots;

  static constexpr std::uint32_t none = bitmap_tree::none;

  /// Where everything lies.
  struct parts {
    state* whole = nullptr;
    warpheap_chunk_set pool{nullptr, 1};     ///< nobody's chunks
    warpheap_chunk_set empties{nullptr, 1};  ///< chunks of classes of which no word was in use
    std::uint32_t* runs = nullptr;           ///< chunks of the run that starts at a chunk
    warpheap_listed_words listed;
    warpheap_offers offers;
    warpheap_supply* copy = nullptr;
  };

  warpheap_supply() = default;
  warpheap_supply(const classes_type& classes, const chunks_type& chunks, const parts& where,
                  std::uint32_t universe, std::uint32_t initial)
      : classes_(classes), chunks_(chunks), where_(where), universe_(universe), initial_(initial) {}

  WARPHEAP_HD const classes_type& classes() const { return classes_; }
  WARPHEAP_HD const chunks_type& chunks() const { return chunks_; }
  /// The number of chunks that the heap can ever have, and the number that it began with.
  WARPHEAP_HD std::uint32_t universe() const { return universe_; }
  WARPHEAP_HD std::uint32_t initial() const { return initial_; }
  /// Chunks that it has now.
  WARPHEAP_DEVICE std::uint32_t backed() const {
    return simt::atomic_ref(where_.whole->backed).load(simt::order::relaxed);
  }
  /// A copy of this object in the heap, for rare calls: it costs their callers no registers.
  WARPHEAP_DEVICE const warpheap_supply& copy() const { return *where_.copy; }
  WARPHEAP_DEVICE const warpheap_chunk_set& pool() const { return where_.pool; }
  WARPHEAP_DEVICE const warpheap_chunk_set& empties() const { return where_.empties; }
  WARPHEAP_HD state& whole() const { return *where_.whole; }
  WARPHEAP_HD const warpheap_listed_words& listed() const { return where_.listed; }
  WARPHEAP_HD const warpheap_offers& offers() const { return where_.offers; }
  /// Of the run that starts at a chunk.
  WARPHEAP_DEVICE std::uint32_t& run_length(std::uint32_t first) const {
    return where_.runs[first];
  }

  /// The first state of a heap that has chunks 0..backed-1.
  WARPHEAP_DEVICE void format(std::uint32_t backed, std::uint64_t rank, std::uint64_t count) const {
    classes_.format(rank, count);
    chunks_.format(universe_, backed, rank, count);
    where_.listed.format(universe_, rank, count);
    where_.offers.format(classes_.sizes(), universe_, rank, count);
    pool().format(backed, rank, count);
    empties().format(0, rank, count);
    if (rank != 0) return;
    *where_.copy = *this;
    where_.whole->format(backed);
  }

  /// Any leaf word of the pool, or of the empties, that covers chunks which exist now.
  WARPHEAP_DEVICE std::uint32_t any_word() const {
    return any_word(simt::load_hint(where_.whole->backed));
  }

  /// How much of the heap is in the pool, in eighths, estimated from one word of it; more than 8 if
  /// the heap has grown unnoticed.
  WARPHEAP_DEVICE int eighths_left() const {
    const std::uint32_t chunks = simt::load_hint(where_.whole->backed);
    const std::uint32_t word = any_word(chunks);
    return eighths_of(pool().peek_word(word), chunks_in(word, chunks));
  }
  /// Must be called after chunks have come to pool or empties.
  WARPHEAP_DEVICE void released() const {
    where_.whole->chunks.released();
    where_.whole->set_dry(false);
  }

  /// Whether a class may have another chunk.
  WARPHEAP_DEVICE bool has_chunks() const {
    return !where_.whole->chunks.is_out(1) && (pool().any() || empties().any());
  }
  /// The same as a guess, by two loads. An acquire would make the multiprocessor discard what it
  /// knows of the heap.
  WARPHEAP_DEVICE bool seems_to_have_chunks() const {
    const bool in_pool = pool().peek_any();
    return empties().peek_any() || in_pool;
  }
  /// Whether that is known, as far as the multiprocessor knows.
  WARPHEAP_DEVICE bool seems_out() const { return where_.whole->chunks.seems_out(1); }
  /// Whether pool and empties certainly had no chunk at a moment of the call. If so, the caller has
  /// acquired where the chunks went.
  WARPHEAP_DEVICE bool is_out() const {
    exhaustion& chunks = where_.whole->chunks;
    if (chunks.is_out(1)) {
      // Pairs with the release in `confirm`: the lane that searched has acquired where the chunks
      // went.
      simt::fence(simt::order::acquire);
      return true;
    }
    return is_out_of_runs(1);
  }
  /// Whether pool and empties certainly had no run of `length` chunks at a moment of the call,
  /// which is remembered. False if lanes had chunks in hand that they may put back, as lanes that
  /// claim runs do without an announcement; and if a chunk was on its way to a class, where the
  /// caller may get a slot.
  WARPHEAP_DEVICE bool is_out_of_runs(std::uint32_t length) const {
    exhaustion& chunks = where_.whole->chunks;
    const exhaustion::token search = chunks.announce();
    const std::uint64_t before = claims_so_far();
    const bool found = length == 1 ? pool().examine_any() || empties().examine_any()
                                   : find_run({length}, &bitmap_tree::examine_word) != none;
    const bool moving = length == 1 && where_.whole->is_moving();
    return !found && !moving && !is_claimed_since(before) && chunks.confirm(search, length);
  }
  /// The first run that chunks of pool and empties form together, as seen by one kind of look.
  WARPHEAP_DEVICE std::uint32_t find_run(run_shape wanted,
                                         std::uint64_t (bitmap_tree::*look)(std::uint32_t)
                                             const) const {
    const bitmap_tree& in_pool = pool();
    const bitmap_tree& in_empties = empties();
    return find_run_in(in_pool.leaf_words(), wanted, 0, [&](std::uint32_t word) {
      return (in_pool.*look)(word) | (in_empties.*look)(word);
    });
  }

  /// A chunk that is new in class `of`, with the first slots of its first word for the team, one
  /// per member; or a chunk of the class that was empty a moment ago; or none. A collective.
  WARPHEAP_RARE static std::uint32_t add_chunk(const warpheap_supply& in, std::uint32_t of,
                                               simt::lane_mask members, bool* is_new) {
    const simt::group team(members);
    std::uint32_t chunk = none;
    std::uint32_t hand = 0;
    if (team.is_leader()) {
      hand = in.where_.whole->begin_move();
      chunk = in.pool().claim_first(in.any_word());
    }
    team.sync();
    chunk = team.broadcast(chunk);
    *is_new = true;
    if (chunk == none) chunk = in.take_empty(team, of, *is_new);
    if (chunk != none && *is_new) simt::call_apart(&open_apart, in, of, chunk, members);
    if (chunk == none && team.is_leader()) in.where_.whole->set_dry(true);
    if (team.is_leader()) in.where_.whole->end_move(hand);
    team.sync();
    return chunk;
  }

  /// A chunk for the caller alone, which gives it an owner, or none: then there was none in the
  /// pool, and then none among the empties, or others were closing them. Beside the last ones, so
  /// that the rest stays in one piece, unless many lanes want one at the same time.
  WARPHEAP_RARE static std::uint32_t take_chunk(const warpheap_supply& in) {
    const std::uint32_t hand = in.where_.whole->begin_move();
    const simt::atomic_ref hint(in.where_.whole->run_word);
    const std::uint32_t word = hint.load(simt::order::relaxed);
    const std::uint64_t there = in.pool().peek_word(word);
    std::uint32_t chunk =
        word * 64 + static_cast<std::uint32_t>(there == 0 ? 0 : lowest_bit(there));
    if (there == 0 || !in.pool().remove(chunk)) {
      chunk = in.pool().claim_first(in.any_word());
      if (chunk != none) hint.store(chunk / 64, simt::order::relaxed);
    }
    bool is_taken = true;
    if (chunk == none) {
      const simt::group alone(simt::lane_mask::of(simt::lane_id()));
      chunk = in.take_empty(alone, none, is_taken);
    }
    in.where_.whole->end_move(hand);
    return chunk;
  }

  /// Takes a chunk from its class if all of its slots are free; returns whether it did. A
  /// collective.
  WARPHEAP_RARE static bool close_apart(const warpheap_supply& in, std::uint32_t chunk,
                                        simt::lane_mask team) {
    return in.close(simt::group(team), chunk);
  }

  /// A word of a chunk of a class has no slots in use any more, and is counted out.
  WARPHEAP_DEVICE void count_out(std::uint32_t chunk) const {
    if (chunks_.count_out(chunk)) simt::call_apart(&note_empty_apart, *this, chunk);
  }

  /// Lists a word that may have room, and its chunk for its current owner: the caller may be late.
  WARPHEAP_DEVICE void list(std::uint32_t chunk, std::uint32_t number) const {
    where_.listed.list(chunk, number);
    const std::uint32_t owner = chunks_type::owner_of(chunks_.look(chunk));
    if (owner < chunk_owner::first_class) return;
    classes_.open(owner - chunk_owner::first_class).insert(chunk);
  }
  /// Whether a word of the chunk is listed, and the chunk is the class's.
  WARPHEAP_DEVICE bool is_open(std::uint32_t of, std::uint32_t chunk) const {
    return where_.listed.any(chunk) &&
           chunks_type::owner_of(chunks_.look(chunk)) == chunk_owner::first_class + of;
  }

  // For runs of chunks.

  // Lanes that find nothing must know whether others held what they were looking for. Acquire and
  // release: what is held is taken after `begin_claim`, and put back before `end_claim`, of which
  // `claims_so_far` acquires the second.
  WARPHEAP_DEVICE void begin_claim() const {
    simt::atomic_ref(where_.whole->claims).fetch_add(sync::moves::begins, simt::order::acq_rel);
  }
  WARPHEAP_DEVICE void end_claim() const {
    simt::atomic_ref(where_.whole->claims).fetch_add(sync::moves::ends, simt::order::acq_rel);
  }

  /// For `is_claimed_since`. Acquire pairs with `end_claim`: what was held before, and put back, is
  /// seen.
  WARPHEAP_DEVICE std::uint64_t claims_so_far() const {
    return simt::atomic_ref(where_.whole->claims).load(simt::order::acquire);
  }
  /// Whether other lanes held parts of runs between then and now. A word that was seen without such
  /// a part was acquired from the lane that holds it, after its `begin_claim`.
  WARPHEAP_DEVICE bool is_claimed_since(std::uint64_t before) const {
    return sync::moves::in_progress(before) != 0 || claims_so_far() != before;
  }

 private:
  /// The number of chunks that a request tries to take from their classes at a time.
  static constexpr int most_tries = 8;

  WARPHEAP_DEVICE static std::uint32_t any_word(std::uint32_t chunks) {
    return scale_to(simt::rough_noise(), ceil_div<std::uint32_t>(chunks, 64));
  }

  /// The look is relaxed: the chunk's state, which the caller has acquired, says whether another
  /// lane has taken the chunk out of the set since (`count_out`, `give_up_closing`).
  WARPHEAP_RARE static void note_empty_apart(const warpheap_supply& in, std::uint32_t chunk) {
    in.note_empty(chunk);
  }
  WARPHEAP_DEVICE void note_empty(std::uint32_t chunk) const {
    if ((empties().peek_word(chunk / 64) >> chunk % 64 & 1) != 0) return;
    empties().insert(chunk);
    where_.whole->chunks.released();
    // A heap with few empty chunks stays dry, so lanes need not change their ways for each.
    const std::uint32_t all = chunks_in(chunk / 64, simt::load_hint(where_.whole->backed));
    if (eighths_of(empties().peek_word(chunk / 64), all) != 0) where_.whole->set_dry(false);
  }
  /// How many of all `chunks` a leaf word covers. It may have chunks of which the caller does not
  /// know: then it counts as whole.
  WARPHEAP_DEVICE static std::uint32_t chunks_in(std::uint32_t word, std::uint32_t chunks) {
    const std::uint32_t rest = chunks - word * 64;
    return rest - 1 < 63 ? rest : 64;
  }
  WARPHEAP_DEVICE static int eighths_of(std::uint64_t chunks, std::uint32_t all) {
    return popcount(chunks) * 8 / static_cast<int>(all);
  }

  WARPHEAP_RARE static void open_apart(const warpheap_supply& in, std::uint32_t of,
                                       std::uint32_t chunk, simt::lane_mask team) {
    in.open(simt::group(team), of, chunk);
  }
  /// Gives a chunk in the caller's hand to a class. A collective.
  WARPHEAP_DEVICE void open(const simt::group& team, std::uint32_t of, std::uint32_t chunk) const {
    const slots shape = classes_.slots(of);
    const std::uint32_t owner = chunk_owner::first_class + of;
    if (team.is_leader()) {
      chunks_.give(chunk, owner | chunks_type::word_in_use);
      classes_.count_unmarked(of, shape.words);
    }
    team.sync();
    where_.listed.list_all(chunk, shape.words, static_cast<std::uint32_t>(team.rank()),
                           static_cast<std::uint32_t>(team.size()));
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < shape.words;
         i += static_cast<std::uint32_t>(team.size())) {
      const std::uint64_t used =
          i == 0 ? chunks_type::slots_in(shape, 0) & low_bits<std::uint64_t>(team.size()) : 0;
      chunks_.open(chunk, i, owner, used);
    }
    team.sync();
    if (team.is_leader()) classes_.add(of, chunk);
    team.sync();
  }

  /// An empty chunk, taken away from its class unless that is `of` (or none), or none. A
  /// collective. A chunk that cannot be closed goes back: a lane has claimed a slot of it and is
  /// about to count it in.
  WARPHEAP_DEVICE std::uint32_t take_empty(const simt::group& team, std::uint32_t of,
                                           bool& is_taken) const {
    for (int tries = 0; tries < most_tries; ++tries) {
      std::uint32_t chunk = none;
      bool is_own = false;
      if (team.is_leader()) {
        chunk = empties().claim_first(any_word());
        if (chunk != none) {
          const std::uint32_t now = chunks_.examine(chunk);
          is_own = of != none && chunks_type::owner_of(now) == chunk_owner::first_class + of &&
                   chunks_type::words_in_use(now) == 0;
          // Lanes may have looked meanwhile, and must not conclude that there was none.
          if (is_own) note_empty(chunk);
        }
      }
      team.sync();
      chunk = team.broadcast(chunk);
      is_taken = !team.any(is_own);
      if (chunk == none || !is_taken) return chunk;
      if (simt::call_apart(&close_apart, *this, chunk, team.mask())) return chunk;
    }
    return none;
  }

  /// Takes a chunk from its class if all of its slots are free; returns whether it did. A
  /// collective.
  WARPHEAP_DEVICE bool close(const simt::group& team, std::uint32_t chunk) const {
    std::uint32_t owner = chunk_owner::nobody;
    if (team.is_leader()) owner = chunks_.begin_closing(chunk);
    team.sync();
    owner = team.broadcast(owner);
    if (owner == chunk_owner::nobody) return false;
    const std::uint32_t of = owner - chunk_owner::first_class;
    const std::uint32_t words = simt::load_hint(classes_.of(of).shape.words);
    using closed_word = typename chunks_type::closed;
    auto closed = static_cast<std::uint32_t>(team.rank());
    std::uint32_t marked = 0;
    for (; closed < words; closed += static_cast<std::uint32_t>(team.size())) {
      const auto came = chunks_.close(chunk, closed, owner);
      if (came == closed_word::in_use) break;
      if (came == closed_word::marked) ++marked;
    }
    // The marks are gone in any case.
    if (marked != 0) classes_.count_unmarked(of, marked);
    bool whole = team.all(closed >= words);
    team.sync();
    if (whole) {
      if (team.is_leader()) whole = chunks_.end_closing(chunk);
      team.sync();
      whole = team.broadcast(static_cast<std::uint32_t>(whole)) != 0;
    }
    simt::call_apart(whole ? &leave_class : &stay_in_class, *this, team.mask(), of, chunk, closed,
                     marked != 0);
    return whole;
  }
  /// What follows when all words are closed. A collective.
  WARPHEAP_RARE static void leave_class(const warpheap_supply& in, simt::lane_mask members,
                                        std::uint32_t of, std::uint32_t chunk,
                                        std::uint32_t /*closed*/, bool /*marked*/) {
    const simt::group team(members);
    if (team.is_leader()) {
      in.classes_.remove(of, chunk);
      in.classes_.count_marked(of, in.classes_.slots(of).words);
    }
    team.sync();
  }
  /// What follows when not all words could be closed. A collective. \param closed the first word of
  /// the caller's share that it has not closed \param marked whether it has closed marked ones
  WARPHEAP_RARE static void stay_in_class(const warpheap_supply& in, simt::lane_mask members,
                                          std::uint32_t of, std::uint32_t chunk,
                                          std::uint32_t closed, bool marked) {
    const simt::group team(members);
    // Lanes that found them closed have listed them again, or dropped offers of marked ones.
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < closed;
         i += static_cast<std::uint32_t>(team.size())) {
      in.chunks_.open(chunk, i, chunk_owner::first_class + of);
      if (marked) in.list(chunk, i);
    }
    team.sync();
    if (team.is_leader() && in.chunks_.give_up_closing(chunk)) in.note_empty(chunk);
    team.sync();
  }

  classes_type classes_;
  chunks_type chunks_;
  parts where_{};
  std::uint32_t universe_ = 1;
  std::uint32_t initial_ = 1;
};

WARPHEAP_END_NAMESPACE
