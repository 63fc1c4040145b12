// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where the chunks of the manager `warpheap` are: the pool of chunks without an owner, and chunks
/// of classes that have become empty. How classes get them: chunk_moves.hpp. Runs of chunks for
/// large blocks: chunk_runs.hpp.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/managers/warpheap/chunk_set.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/class_orders.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/listed_words.hpp"
#include "warpheap/managers/warpheap/offers.hpp"
#include "warpheap/managers/warpheap/state.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/exhaustion.hpp"
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
    warpheap_class_orders orders;
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
  WARPHEAP_HD const warpheap_class_orders& orders() const { return where_.orders; }
  /// The length of the run that starts at a chunk.
  WARPHEAP_DEVICE std::uint32_t& run_length(std::uint32_t first) const {
    return where_.runs[first];
  }

  /// The first state of a heap that has chunks 0..backed-1.
  WARPHEAP_DEVICE void format(std::uint32_t backed, std::uint64_t rank, std::uint64_t count) const {
    classes_.format(rank, count);
    chunks_.format(universe_, backed, rank, count);
    where_.listed.format(universe_, rank, count);
    where_.offers.format(classes_.sizes(), universe_, rank, count);
    where_.orders.format(rank, count);
    pool().format(backed, rank, count);
    empties().format(0, rank, count);
    if (rank != 0) return;
    *where_.copy = *this;
    where_.whole->format(backed);
  }

  /// Any leaf word of the pool, or of the empties, that covers chunks which exist now.
  WARPHEAP_DEVICE std::uint32_t any_word() const {
    return scale_to(simt::rough_noise(),
                    ceil_div<std::uint32_t>(simt::load_hint(where_.whole->backed), 64));
  }

  /// How much of the heap is in the pool, in eighths, estimated from one word of it; more than 8 if
  /// the heap has grown unnoticed.
  WARPHEAP_DEVICE int eighths_in_pool() const {
    const std::uint32_t word = any_word();
    const std::uint32_t backed = simt::load_hint(where_.whole->backed);
    return eighths_of(pool().peek_word(word), chunks_in(word, backed));
  }
  /// How much of the heap class `of` can get, in parts of 64: what is in the pool, and what other
  /// classes have left empty. That is not taken from the set of the empties, since chunks stay
  /// there that are in use again, but from the states of some of the same chunks
  /// (docs/decisions/0058).
  WARPHEAP_DEVICE int parts_left(std::uint32_t of) const {
    const std::uint32_t word = any_word();
    const std::uint32_t backed = simt::load_hint(where_.whole->backed);
    const std::uint32_t all = chunks_in(word, backed);
    constexpr std::uint32_t look = chunks_type::at_a_look;
    const std::uint32_t half = all > look ? simt::rough_noise() >> 31 : 0;
    const std::uint32_t seen = half != 0 ? all - look : all < look ? all : look;
    const int others =
        chunks_.left_empty(word * 64 + half * look, universe_, chunk_owner::first_class + of);
    const auto in_pool = static_cast<std::uint32_t>(popcount(pool().peek_word(word)));
    return static_cast<int>((in_pool * seen + static_cast<std::uint32_t>(others) * all) * 64 /
                            (all * seen));
  }
  /// How many chunks a class takes together, for its slots of a chunk and what the pool has of the
  /// heap. Opening one takes 35 us on a GPU, mostly for steps that wait for each other; opening
  /// several takes as long (docs/decisions/0028).
  WARPHEAP_DEVICE std::uint32_t chunks_at_once(std::uint32_t slots_of_each, int eighths) const {
    return eighths < 2 || slots_of_each < Config.slots_at_once ? 1 : most_at_once();
  }
  /// The same for a class that counts what it needs, and so gets none in vain.
  WARPHEAP_DEVICE std::uint32_t most_at_once() const {
    const std::uint32_t share = simt::load_hint(where_.whole->backed) / Config.least_takings;
    return share < 1 ? 1 : share < Config.most_at_once ? share : Config.most_at_once;
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
  /// Whether pool and empties certainly had no chunk at a moment of the call, which is remembered.
  /// If so, the caller has acquired where the chunks went.
  WARPHEAP_DEVICE bool is_out() const {
    exhaustion& chunks = where_.whole->chunks;
    if (chunks.is_out(1)) {
      // Pairs with the release in `confirm`: the lane that searched has acquired where the chunks
      // went.
      simt::fence(simt::order::acquire);
      return true;
    }
    const exhaustion::token search = chunks.announce();
    const std::uint32_t before = claims_returned();
    const bool found = pool().examine_any() || empties().examine_any();
    return !found && confirm_out(search, 1, before);
  }
  /// The end of a search that has found no run of `length` chunks in pool and empties, which is
  /// remembered. False if lanes had chunks in hand that they may put back, as lanes that claim runs
  /// do without an announcement; and if a chunk was on its way to a class, where the caller may get
  /// a slot. \param before `claims_returned` after the announcement
  WARPHEAP_DEVICE bool confirm_out(exhaustion::token search, std::uint32_t length,
                                   std::uint32_t before) const {
    const bool moving = length == 1 && where_.whole->is_moving();
    return !moving && claims_returned_since(before) == 0 &&
           where_.whole->chunks.confirm(search, length);
  }

  /// A word of a chunk of a class has no slots in use any more, and is counted out.
  WARPHEAP_DEVICE void count_out(std::uint32_t chunk) const {
    if (chunks_.count_out(chunk)) simt::call_apart(&note_empty_apart, *this, chunk);
  }

  /// A chunk of a class has no word in use, as the caller has just seen in its state. The look at
  /// the set is a read-modify-write: see `count_out`.
  WARPHEAP_DEVICE void note_empty(std::uint32_t chunk) const {
    const std::uint64_t noted = empties().examine_word(chunk / 64, simt::order::relaxed);
    const bool is_noted = (noted >> chunk % 64 & 1) != 0;
    if (!is_noted) empties().insert(chunk);
    // Also if another lane has noted it, which may not have said so yet.
    where_.whole->chunks.released();
    if (is_noted) return;
    // A heap with few empty chunks stays dry, so lanes need not change their ways for each.
    const std::uint32_t all = chunks_in(chunk / 64, simt::load_hint(where_.whole->backed));
    if (eighths_of(empties().peek_word(chunk / 64), all) != 0) where_.whole->set_dry(false);
  }

  /// Lists a word that may have room, and its chunk for its current owner: the caller may be late.
  /// If another one of the same 64 words is listed, the lane that listed the first of them has
  /// inserted the chunk, or is about to; and a lane that takes the chunk out of the set looks at
  /// these words afterwards. So lanes that free blocks all over a heap seldom change the set.
  WARPHEAP_DEVICE void list(std::uint32_t chunk, std::uint32_t number) const {
    if (!where_.listed.list(chunk, number)) return;
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
  // `claims_returned` acquires the second.
  WARPHEAP_DEVICE void begin_claim() const {
    simt::atomic_ref(where_.whole->claims).fetch_add(sync::moves::begins, simt::order::acq_rel);
  }
  /// \param is_for_good whether nothing of what was held has been put back
  WARPHEAP_DEVICE void end_claim(bool is_for_good) const {
    simt::atomic_ref(where_.whole->claims)
        .fetch_add(is_for_good ? sync::moves::ends_for_good : sync::moves::ends,
                   simt::order::acq_rel);
  }

  /// How many claims have put back parts of runs so far. Acquire pairs with `end_claim`: what was
  /// held before, and put back, is seen.
  WARPHEAP_DEVICE std::uint32_t claims_returned() const {
    return sync::moves::ended(simt::atomic_ref(where_.whole->claims).load(simt::order::acquire));
  }
  /// How many have done so since there were `before`, or hold parts that they may put back. A word
  /// that was seen without such a part was acquired from the lane that held it, after its
  /// `begin_claim`. Those that have won theirs have hidden nothing.
  WARPHEAP_DEVICE std::uint32_t claims_returned_since(std::uint32_t before) const {
    const std::uint64_t now = simt::atomic_ref(where_.whole->claims).load(simt::order::acquire);
    return sync::moves::in_progress(now) + sync::moves::ended(now) - before;
  }

 private:
  WARPHEAP_RARE static void note_empty_apart(const warpheap_supply& in, std::uint32_t chunk) {
    in.note_empty(chunk);
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

  classes_type classes_;
  chunks_type chunks_;
  parts where_{};
  std::uint32_t universe_ = 1;
  std::uint32_t initial_ = 1;
};

WARPHEAP_END_NAMESPACE
