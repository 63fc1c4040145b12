// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where the chunks of the manager `warpheap` come from and go to: the pool of those that belong to
/// nobody, chunks of other classes that have become empty, runs of chunks for large blocks.

#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/state.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <warpheap_config Config>
class warpheap_supply {
 public:
  using chunks_type = warpheap_chunks<Config>;
  using classes_type = warpheap_classes<Config>;
  using state = warpheap_state<Config>;
  using slots = warpheap_slots;

  static constexpr std::uint32_t none = bitmap_tree::none;

  /// Where everything lies.
  struct parts {
    state* whole;
    std::uint64_t* pool;
    std::uint32_t* runs;  ///< chunks of the run that starts at a chunk
    warpheap_supply* copy;
  };

  warpheap_supply() = default;
  warpheap_supply(const classes_type& classes, const chunks_type& chunks, const parts& where,
                  std::uint32_t universe, std::uint32_t present)
      : classes_(classes), chunks_(chunks), where_(where), universe_(universe), present_(present) {}

  WARPHEAP_HD const classes_type& classes() const { return classes_; }
  WARPHEAP_HD const chunks_type& chunks() const { return chunks_; }
  WARPHEAP_HD std::uint32_t universe() const { return universe_; }
  /// A copy of this in the heap, for what is called seldom: it loads what it needs, and its callers
  /// keep nothing of it in registers.
  WARPHEAP_DEVICE const warpheap_supply& copy() const { return *where_.copy; }
  WARPHEAP_DEVICE bitmap_tree pool() const { return {where_.pool, universe_}; }
  WARPHEAP_DEVICE state& whole() const { return *where_.whole; }
  WARPHEAP_DEVICE std::uint32_t run_length(std::uint32_t first) const { return where_.runs[first]; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    classes_.format(rank, count);
    chunks_.format(universe_, rank, count);
    pool().format(present_, rank, count);
    if (rank != 0) return;
    *where_.copy = *this;
    where_.whole->emptied.format();
    where_.whole->claims = 0;
    where_.whole->left = present_;
    where_.whole->run_word = 0;
  }

  /// Adds chunks that the heap did not have so far, while lanes use it.
  /// \pre first..first+count-1 are in the region, formatted, and of nobody
  WARPHEAP_DEVICE void extend(std::uint32_t first, std::uint32_t count) const {
    insert_run(pool(), first, count);
    came_back(count);
  }

  /// Whether classes may take chunks before they need them.
  WARPHEAP_DEVICE bool is_plentiful() const {
    return simt::atomic_ref(where_.whole->left).load(simt::order::relaxed) > universe_ / 4;
  }

  /// A chunk that is new in class `of`, or none if there is none in the pool and no empty one. A
  /// collective.
  WARPHEAP_DEVICE std::uint32_t add_chunk(const simt::group& team, std::uint32_t of) const {
    std::uint32_t chunk = none;
    if (team.is_leader()) {
      chunk = pool().claim_hashed(static_cast<std::uint32_t>(simt::noise() >> 32));
      if (chunk != none) {
        simt::atomic_ref(where_.whole->left).fetch_sub(1, simt::order::relaxed);
      }
    }
    team.sync();
    chunk = team.broadcast(chunk);
    if (chunk == none) chunk = take_emptied(team);
    if (chunk == none) return none;
    const slots shape = classes_.slots(of);
    const std::uint32_t owner = chunk_owner::first_class + of;
    // Before its words are open, nobody can take a slot of the chunk, nor the chunk away again.
    if (team.is_leader()) {
      chunks_.give(chunk, owner);
      classes_.add(of, chunk);
    }
    team.sync();
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < shape.words;
         i += static_cast<std::uint32_t>(team.size())) {
      chunks_.open(chunk, i, owner);
    }
    team.sync();
    if (team.is_leader()) {
      chunks_.set(chunk, chunks_type::roomy | chunks_type::emptied);
      classes_.full(of).released();
      where_.whole->emptied.released();
    }
    return chunk;
  }

  /// A word of the chunk has become empty.
  WARPHEAP_DEVICE void note_emptied(std::uint32_t chunk) const {
    if (chunks_.set(chunk, chunks_type::emptied)) where_.whole->emptied.released();
  }
  /// A slot of a marked word was freed: `before` is what the word was. What the word is now.
  WARPHEAP_RARE static std::uint64_t find_again(const warpheap_supply& in, std::uint32_t of,
                                                std::uint32_t chunk, std::uint32_t number,
                                                std::uint64_t before) {
    in.chunks_.set(chunk, chunks_type::roomy);
    in.classes_.full(of).released();
    const std::uint64_t all = chunks_type::slots_in(in.classes_.slots(of), number);
    return chunks_type::used_of(before) == all ? in.chunks_.unmark(chunk, number) : before;
  }

  // Large blocks.

  /// The first of `length` chunks in a row, or none if there are no such. \pre `length != 0`
  WARPHEAP_DEVICE std::uint32_t take_run(std::uint32_t length) const {
    for (int patience = most_patience;;) {
      const simt::atomic_ref claims(where_.whole->claims);
      const std::uint64_t others = claims.fetch_add(1, simt::order::acq_rel);
      std::uint32_t first = simt::call_apart(&find_run_apart, *this, length);
      if (first != none) own_run(first, length);
      claims.fetch_add((std::uint64_t{1} << 32) - 1, simt::order::acq_rel);
      if (first != none) return first;
      // Ends: each chunk is collected once.
      if (simt::call_apart(&collect_apart, *this)) continue;
      const bool alone = static_cast<std::uint32_t>(others) == 0 &&
                         claims.load(simt::order::acquire) == others + (std::uint64_t{1} << 32);
      // Others hold parts of runs for a moment, and never wait.
      if (alone || --patience < 0) return none;
      simt::backoff(wait_ns);
    }
  }

  WARPHEAP_DEVICE void give_run(std::uint32_t first) const {
    const std::uint32_t length = where_.runs[first];
    for (std::uint32_t i = 0; i < length; ++i) chunks_.give(first + i, chunk_owner::nobody);
    insert_run(pool(), first, length);
    came_back(length);
  }

  /// Gives the chunks of a run back that lie before `kept` and behind kept..kept+length-1.
  WARPHEAP_DEVICE void trim_run(std::uint32_t first, std::uint32_t kept,
                                std::uint32_t length) const {
    const std::uint32_t whole = where_.runs[first];
    if (kept != first) {
      chunks_.give(kept, chunk_owner::run);
      where_.runs[first] = kept - first;
      give_run(first);
    }
    const std::uint32_t behind = kept + length;
    const std::uint32_t rest = first + whole - behind;
    where_.runs[kept] = length;
    if (rest == 0) return;
    chunks_.give(behind, chunk_owner::run);
    where_.runs[behind] = rest;
    give_run(behind);
  }

 private:
  static constexpr int most_patience = 64;
  static constexpr std::uint32_t wait_ns = 200;

  /// The searches for chunks must not rely on what they knew.
  WARPHEAP_DEVICE void came_back(std::uint32_t count) const {
    simt::atomic_ref(where_.whole->left).fetch_add(count, simt::order::relaxed);
    where_.whole->emptied.released();
  }

  /// An empty chunk, taken away from its class, or none. A collective.
  WARPHEAP_DEVICE std::uint32_t take_emptied(const simt::group& team) const {
    std::uint32_t found = none;
    where_.whole->emptied.search(
        team, [&] { return universe_; }, [&] { return found == none ? 1u : 0u; },
        [&](std::uint32_t first, std::uint32_t count) {
          bool left = false;
          visit_emptied(team, first, count, [&](std::uint32_t chunk) {
            if (found != none) {
              left = true;
            } else if (close(team, chunk)) {
              found = chunk;
            }
          });
          return left ? 1u : 0u;
        });
    return found;
  }

  /// Calls `f(chunk)` for each of these chunks in which a word has become empty. A collective.
  template <class F>
  WARPHEAP_DEVICE void visit_emptied(const simt::group& team, std::uint32_t first,
                                     std::uint32_t count, const F& f) const {
    for (std::uint32_t done = 0; done < count; done += static_cast<std::uint32_t>(team.size())) {
      const std::uint32_t mine = done + static_cast<std::uint32_t>(team.rank());
      const bool hit = mine < count && (chunks_.examine(first + mine) & chunks_type::emptied) != 0;
      for (simt::lane_mask hits = team.ballot(hit); !hits.empty();
           hits = hits.without(hits.lowest())) {
        const auto at = static_cast<std::uint32_t>(team.mask().below(hits.lowest()).count());
        f(first + done + at);
      }
    }
  }

  /// Takes a chunk from its class if all of its slots are free; whether it has. A collective.
  WARPHEAP_DEVICE bool close(const simt::group& team, std::uint32_t chunk) const {
    std::uint32_t owner = chunk_owner::nobody;
    if (team.is_leader()) {
      owner = chunks_type::owner_of(chunks_.look(chunk));
      if (owner < chunk_owner::first_class || !chunks_.clear(chunk, owner, chunks_type::emptied)) {
        owner = chunk_owner::nobody;
      }
    }
    team.sync();
    owner = team.broadcast(owner);
    if (owner == chunk_owner::nobody) return false;
    const std::uint32_t of = owner - chunk_owner::first_class;
    const slots shape = classes_.slots(of);
    const auto rank = static_cast<std::uint32_t>(team.rank());
    const auto members = static_cast<std::uint32_t>(team.size());
    bool empty = true;
    for (std::uint32_t i = rank; i < shape.words; i += members) {
      empty = empty && chunks_.examine(chunk, i) == chunks_type::empty_word(owner);
    }
    if (!team.all(empty)) return false;
    std::uint32_t closed = rank;
    while (closed < shape.words && chunks_.close(chunk, closed, owner)) closed += members;
    const bool whole = team.all(closed >= shape.words);
    if (!whole) {
      // What was closed is open again, and was hidden for a moment.
      for (std::uint32_t i = rank; i < closed; i += members) chunks_.open(chunk, i, owner);
      team.sync();
      if (team.is_leader()) {
        chunks_.set(chunk, chunks_type::roomy);
        classes_.full(of).released();
      }
      return false;
    }
    team.sync();
    if (team.is_leader()) {
      classes_.remove(of, chunk);
      chunks_.give(chunk, chunk_owner::nobody);
    }
    team.sync();
    return true;
  }

  /// Puts all empty chunks of classes into the pool; whether there was one.
  WARPHEAP_RARE static bool collect_apart(const warpheap_supply& self) { return self.collect(); }
  WARPHEAP_DEVICE bool collect() const {
    const simt::group team = simt::coalesced();
    bool any = false;
    where_.whole->emptied.search(
        team, [&] { return universe_; }, [&] { return 1u; },
        [&](std::uint32_t first, std::uint32_t count) {
          visit_emptied(team, first, count, [&](std::uint32_t chunk) {
            if (!close(team, chunk)) return;
            any = true;
            if (team.is_leader()) {
              pool().insert(chunk);
              came_back(1);
            }
          });
          return 0u;
        });
    return any;
  }

  /// Takes a run out of the pool, from where the last one was found, and from the front.
  WARPHEAP_RARE static std::uint32_t find_run_apart(const warpheap_supply& self,
                                                    std::uint32_t length) {
    return self.find_run(length);
  }
  WARPHEAP_DEVICE std::uint32_t find_run(std::uint32_t length) const {
    const simt::atomic_ref<std::uint32_t> hint(where_.whole->run_word);
    const std::uint32_t from = hint.load(simt::order::relaxed);
    std::uint32_t first = claim_run_from(pool(), length, from);
    if (first == none && from != 0) first = claim_run_from(pool(), length, 0);
    if (first != none) hint.store((first + length) / 64, simt::order::relaxed);
    return first;
  }

  WARPHEAP_DEVICE void own_run(std::uint32_t first, std::uint32_t length) const {
    simt::atomic_ref(where_.whole->left).fetch_sub(length, simt::order::relaxed);
    chunks_.give(first, chunk_owner::run);
    for (std::uint32_t i = 1; i < length; ++i) chunks_.give(first + i, chunk_owner::run_inside);
    where_.runs[first] = length;
  }

  classes_type classes_;
  chunks_type chunks_;
  parts where_{};
  std::uint32_t universe_ = 1;
  std::uint32_t present_ = 0;
};

WARPHEAP_END_NAMESPACE
