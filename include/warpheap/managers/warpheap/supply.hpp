// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where the chunks of the manager `warpheap` come from and go to: the pool of those that belong to
/// nobody, classes that grow, chunks that have become empty, runs of chunks for large blocks.

#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Words of the heap as a whole, each in a cache line of its own.
struct warpheap_state {
  /// Runs that are being claimed, and chunks on their way to the pool.
  alignas(128) std::uint64_t changes;
  /// {chunks that came back to the pool or became empty: 32 | length of a run: 32}: no run of that
  /// length or a longer one was there when so many had come back.
  alignas(128) std::uint64_t no_run;
  alignas(128) std::uint32_t came_back;
  /// Chunks in the pool, for those who only guess.
  alignas(128) std::uint32_t left;
  /// The leaf word of the pool where the last run was found.
  alignas(128) std::uint32_t run_word;
};

template <warpheap_config Config>
class warpheap_supply {
 public:
  using chunks_type = warpheap_chunks<Config>;
  using classes_type = warpheap_classes<Config>;
  using slots = warpheap_slots;

  static constexpr std::uint32_t none = bitmap_tree::none;

  /// What came of the wish to grow.
  enum class growth : std::uint32_t {
    grown,    ///< the class has a chunk more
    busy,     ///< others are at it
    nothing,  ///< there was no chunk
  };

  /// Where everything lies.
  struct parts {
    warpheap_state* state;
    std::uint64_t* pool;
    std::uint64_t* empties;
    std::uint32_t* runs;  ///< chunks of the run that starts at a chunk
  };

  warpheap_supply() = default;
  warpheap_supply(const classes_type& classes, const chunks_type& chunks, const parts& where,
                  std::uint32_t universe, std::uint32_t present)
      : classes_(classes), chunks_(chunks), where_(where), universe_(universe), present_(present) {}

  WARPHEAP_HD const classes_type& classes() const { return classes_; }
  WARPHEAP_HD const chunks_type& chunks() const { return chunks_; }
  WARPHEAP_HD std::uint32_t universe() const { return universe_; }
  WARPHEAP_DEVICE bitmap_tree pool() const { return {where_.pool, universe_}; }
  /// Chunks of classes that nothing may hold: all that nothing holds, and others.
  WARPHEAP_DEVICE bitmap_tree empties() const { return {where_.empties, universe_}; }
  WARPHEAP_DEVICE warpheap_changes changes() const {
    return warpheap_changes(where_.state->changes);
  }
  WARPHEAP_DEVICE std::uint32_t run_length(std::uint32_t first) const { return where_.runs[first]; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    classes_.format(rank, count);
    chunks_.format(universe_, rank, count);
    pool().format(present_, rank, count);
    empties().format(0, rank, count);
    if (rank == 0) *where_.state = warpheap_state{0, 0, 0, present_, 0};
  }

  /// Adds chunks that the heap did not have so far, while lanes use it.
  /// \pre first..first+count-1 are in the region, formatted, and of nobody
  WARPHEAP_DEVICE void extend(std::uint32_t first, std::uint32_t count) const {
    insert_run(pool(), first, count);
    came_back(count);
  }

  // Slots.

  /// Lets a class grow, as far as one group does that at a time; all members call it. Lock-free: of
  /// the groups that want the same class to grow only some go on, and those wait for nobody.
  WARPHEAP_DEVICE growth grow(const simt::group& team, std::uint32_t of, const slots& shape,
                              std::uint64_t noise) const {
    const bool leads = team.is_leader();
    bitmap_tree::word_elements got;
    growth result = growth::nothing;
    if (leads && (pool_seems_left() || empties().draw(noise) != none)) {
      const std::uint32_t size = classes_.size(of);
      // By half of it at a time at most: more would give a class what it does not need.
      if (classes_.may_grow(of, 1 + size / (2 * Config.most_adopted))) {
        classes_.changes(of).begin();
        got = adopt(wanted(shape, size), noise);
        if (got.bits == 0) {
          classes_.changes(of).end();
          classes_.grew(of);
        }
      } else {
        result = growth::busy;
      }
    }
    team.sync();
    got.word = team.broadcast(got.word);
    got.bits = team.broadcast(got.bits);
    if (got.bits == 0) {
      return static_cast<growth>(team.broadcast(static_cast<std::uint32_t>(result)));
    }
    take_in(team, of, shape, got);
    if (leads) {
      // Nothing holds them yet.
      empties().insert_bits(got.word, got.bits);
      classes_.gained(of, got.count());
      classes_.changes(of).end();
      classes_.grew(of);
    }
    team.sync();
    return growth::grown;
  }

  /// Whether classes may take chunks before they need them.
  WARPHEAP_DEVICE bool is_plentiful() const {
    return simt::atomic_ref(where_.state->left).load(simt::order::relaxed) > universe_ / 4;
  }

  /// A chunk that nothing holds any more, and that is not listed.
  WARPHEAP_DEVICE void unheld(std::uint32_t chunk) const {
    changes().begin();
    if (chunks_.enlist(chunk)) {
      empties().insert(chunk);
      note_return(1);
    }
    changes().end();
  }

  // Large blocks.

  /// The first of `length` chunks in a row, or none if there are no such. \pre `length != 0`
  WARPHEAP_DEVICE std::uint32_t take_run(std::uint32_t length) const {
    for (int patience = most_patience;;) {
      const std::uint32_t returns = returned();
      if (known_to_fail(length, returns)) return none;
      const warpheap_changes moves = changes();
      const std::uint32_t others = moves.begin();
      std::uint32_t first = find_run(length);
      bool collected = false;
      if (first == none) {
        collected = collect();
        if (collected) first = find_run(length);
      }
      if (first != none) own_run(first, length);
      moves.end();
      if (first != none) return first;
      if (collected) continue;  // ends: each chunk is collected once
      if (others == 0 && warpheap_changes::quiet(moves.look())) {
        simt::atomic_ref(where_.state->no_run)
            .store(std::uint64_t{returns} << 32 | length, simt::order::relaxed);
        return none;
      }
      // Others hold parts of runs for a moment, and wait for nobody.
      if (--patience < 0) return none;
      simt::backoff(wait_ns);
    }
  }

  WARPHEAP_DEVICE void give_run(std::uint32_t first) const {
    const std::uint32_t length = where_.runs[first];
    chunks_.hand_over(first, chunk_owner::run, chunk_owner::nobody);
    for (std::uint32_t i = 1; i < length; ++i) {
      chunks_.hand_over(first + i, chunk_owner::run_inside, chunk_owner::nobody);
    }
    insert_run(pool(), first, length);
    came_back(length);
  }

  /// Gives the chunks of a run back that lie before `kept` and behind kept..kept+length-1.
  WARPHEAP_DEVICE void trim_run(std::uint32_t first, std::uint32_t kept,
                                std::uint32_t length) const {
    const std::uint32_t whole = where_.runs[first];
    if (kept != first) {
      chunks_.hand_over(kept, chunk_owner::run_inside, chunk_owner::run);
      where_.runs[first] = kept - first;
      give_run(first);
    }
    const std::uint32_t behind = kept + length;
    const std::uint32_t rest = first + whole - behind;
    where_.runs[kept] = length;
    if (rest == 0) return;
    chunks_.hand_over(behind, chunk_owner::run_inside, chunk_owner::run);
    where_.runs[behind] = rest;
    give_run(behind);
  }

 private:
  static constexpr int most_patience = 64;
  static constexpr std::uint32_t wait_ns = 200;
  /// Empty chunks that one lane looks at to take one from its class.
  static constexpr int most_looks = 32;

  WARPHEAP_DEVICE bool pool_seems_left() const { return pool().draw(0) != none; }
  WARPHEAP_DEVICE std::uint32_t returned() const {
    return simt::atomic_ref(where_.state->came_back).load(simt::order::acquire);
  }
  WARPHEAP_DEVICE void note_return(std::uint32_t count) const {
    simt::atomic_ref(where_.state->came_back).fetch_add(count, simt::order::release);
  }
  WARPHEAP_DEVICE void came_back(std::uint32_t count) const {
    note_return(count);
    simt::atomic_ref(where_.state->left).fetch_add(count, simt::order::relaxed);
  }

  /// Chunks that a class of `size` chunks takes at a time.
  WARPHEAP_DEVICE int wanted(const slots& shape, std::uint32_t size) const {
    const std::uint32_t left =
        simt::atomic_ref(where_.state->left).load(simt::order::relaxed);
    std::uint32_t want = size > universe_ / 1024 ? size : universe_ / 1024;
    if (left <= universe_ / 4) want = left / 64 < want ? left / 64 : want;
    // Each member of a group has a few words of the class's tree to change.
    const std::uint32_t most = Config.most_adopted * 8 / (shape.words / 64 + 8);
    if (want > most) want = most;
    return want == 0 ? 1 : static_cast<int>(want);
  }

  /// Chunks of the pool, or one that another class does not use. They belong to nobody.
  WARPHEAP_DEVICE bitmap_tree::word_elements adopt(int want, std::uint64_t noise) const {
    const bitmap_tree::word_elements got = pool().claim_some(want, 0);
    if (got.bits != 0) {
      simt::atomic_ref(where_.state->left)
          .fetch_sub(static_cast<std::uint32_t>(got.count()), simt::order::relaxed);
      return got;
    }
    const std::uint32_t chunk = take_unheld(noise);
    if (chunk == none) return {};
    return {chunk / 64, std::uint64_t{1} << chunk % 64};
  }

  /// The members share the work: the owner first, for who finds a word asks for it.
  WARPHEAP_DEVICE void take_in(const simt::group& team, std::uint32_t of, const slots& shape,
                               const bitmap_tree::word_elements& got) const {
    const auto rank = static_cast<std::uint32_t>(team.rank());
    const auto members = static_cast<std::uint32_t>(team.size());
    const auto count = static_cast<std::uint32_t>(got.count());
    for (std::uint32_t i = rank; i < count; i += members) {
      chunks_.hand_over(got.nth(static_cast<int>(i)), chunk_owner::nobody,
                        chunk_owner::first_class + of);
    }
    team.sync();
    const bitmap_tree open = classes_.open(of);
    const std::uint32_t parts = (shape.words + 126) / 64;  // leaf words that a chunk may lie in
    for (std::uint32_t i = rank; i < count * parts; i += members) {
      const std::uint32_t first = got.nth(static_cast<int>(i / parts)) * shape.words;
      const std::uint32_t leaf = first / 64 + i % parts;
      if (leaf > (first + shape.words - 1) / 64) continue;
      open.insert_bits(leaf, bits_of_run(first, shape.words, leaf));
    }
    team.sync();
  }

  /// Takes a chunk that nothing holds away from its class; it belongs to nobody then. None if there
  /// seems to be no such.
  WARPHEAP_DEVICE std::uint32_t take_unheld(std::uint64_t noise) const {
    for (;;) {
      const std::uint32_t chunk = empties().claim_hashed(static_cast<std::uint32_t>(noise));
      if (chunk == none) return none;
      // What holds it in spite of that puts it back into the set when it lets go of it.
      const std::uint32_t owner = chunks_.take_unheld(chunk);
      if (owner == chunk_owner::nobody) continue;
      const std::uint32_t of = owner - chunk_owner::first_class;
      const std::uint32_t words = classes_.slots(of).words;
      classes_.lost(of);
      remove_run(classes_.open(of), chunk * words, words);
      return chunk;
    }
  }

  /// Puts all chunks that nothing holds into the pool; whether there was one.
  WARPHEAP_DEVICE bool collect() const {
    bool any = false;
    for (;;) {
      const std::uint32_t chunk = take_unheld(0);
      if (chunk == none) return any;
      pool().insert(chunk);
      came_back(1);
      any = true;
    }
  }

  WARPHEAP_DEVICE bool known_to_fail(std::uint32_t length, std::uint32_t returns) const {
    const std::uint64_t known =
        simt::atomic_ref(where_.state->no_run).load(simt::order::relaxed);
    const auto shortest = static_cast<std::uint32_t>(known);
    return shortest != 0 && length >= shortest && static_cast<std::uint32_t>(known >> 32) == returns;
  }

  /// Takes a run out of the pool, from where the last one was found, and from the front.
  WARPHEAP_DEVICE std::uint32_t find_run(std::uint32_t length) const {
    if (length == 1) return pool().claim_first();
    const simt::atomic_ref<std::uint32_t> hint(where_.state->run_word);
    const std::uint32_t from = hint.load(simt::order::relaxed);
    std::uint32_t first = claim_run_from(pool(), length, from);
    if (first == none && from != 0) first = claim_run_from(pool(), length, 0);
    if (first != none) hint.store((first + length) / 64, simt::order::relaxed);
    return first;
  }

  WARPHEAP_DEVICE void own_run(std::uint32_t first, std::uint32_t length) const {
    simt::atomic_ref(where_.state->left).fetch_sub(length, simt::order::relaxed);
    chunks_.hand_over(first, chunk_owner::nobody, chunk_owner::run);
    for (std::uint32_t i = 1; i < length; ++i) {
      chunks_.hand_over(first + i, chunk_owner::nobody, chunk_owner::run_inside);
    }
    where_.runs[first] = length;
  }

  classes_type classes_;
  chunks_type chunks_;
  parts where_{};
  std::uint32_t universe_ = 1;
  std::uint32_t present_ = 0;
};

WARPHEAP_END_NAMESPACE
