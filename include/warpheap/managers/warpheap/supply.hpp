// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where the chunks of the manager `warpheap` come from and go to: the pool of those that belong to
/// nobody, classes that grow, chunks that have become empty, runs of chunks for large blocks.

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
  using slots = warpheap_slots;

  static constexpr std::uint32_t none = bitmap_tree::none;

  /// What came of the wish to grow.
  enum class outcome : std::uint32_t {
    grown,    ///< the class has chunks more
    busy,     ///< others are at it
    nothing,  ///< there was no chunk
  };
  struct growth {
    outcome what = outcome::nothing;
    std::uint32_t first = 0;  ///< one of the new chunks
  };

  /// Where everything lies.
  struct parts {
    warpheap_state* state;
    std::uint64_t* pool;
    std::uint64_t* empties;
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
  /// Chunks of classes that nothing may hold: all that nothing holds, and others.
  WARPHEAP_DEVICE bitmap_tree empties() const { return {where_.empties, universe_}; }
  WARPHEAP_DEVICE warpheap_changes changes() const {
    return warpheap_changes(&where_.state->changes, 1, 0);
  }
  WARPHEAP_DEVICE std::uint32_t run_length(std::uint32_t first) const { return where_.runs[first]; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    classes_.format(rank, count);
    chunks_.format(universe_, rank, count);
    pool().format(present_, rank, count);
    empties().format(0, rank, count);
    if (rank == 0) *where_.copy = *this;
    if (rank == 0) *where_.state = warpheap_state{0, 0, 1, present_, 0};
  }

  /// Adds chunks that the heap did not have so far, while lanes use it.
  /// \pre first..first+count-1 are in the region, formatted, and of nobody
  WARPHEAP_DEVICE void extend(std::uint32_t first, std::uint32_t count) const {
    insert_run(pool(), first, count);
    came_back(count);
  }

  // Slots.

  /// Lets a class grow, as far as one group does that at a time; all members call it. Lock-free: of
  /// the groups that want the same class to grow only some go on, and those never wait.
  WARPHEAP_RARE static growth grow_apart(const warpheap_supply& self, simt::lane_mask team,
                                         std::uint32_t of) {
    const std::uint32_t shard = self.classes_.shard();
    return self.grow(simt::group(team), of, self.classes_.desk_of(of, shard).slots, simt::noise());
  }
  /// Whether classes may take chunks before they need them.
  WARPHEAP_DEVICE bool is_plentiful() const { return left() > universe_ / 4; }

  /// A chunk that nothing holds any more, and that is not listed.
  WARPHEAP_RARE static void unheld(const warpheap_supply& self, std::uint32_t chunk) {
    const warpheap_changes moves = self.changes();
    moves.begin();
    if (self.chunks_.enlist(chunk)) {
      self.empties().insert(chunk);
      self.note_return(1);
    }
    moves.end();
  }

  // Large blocks.

  /// The first of `length` chunks in a row, or none if there are no such. \pre `length != 0`
  WARPHEAP_DEVICE std::uint32_t take_run(std::uint32_t length) const {
    for (int patience = most_patience;;) {
      const std::uint32_t returns = returned();
      if (known_to_fail(length, returns)) return none;
      const warpheap_changes moves = changes();
      const std::uint32_t others = moves.begin();
      std::uint32_t first = simt::call_apart(&find_run_apart, *this, length);
      bool collected = false;
      if (first == none) {
        collected = simt::call_apart(&collect_apart, *this);
        if (collected) first = simt::call_apart(&find_run_apart, *this, length);
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
      // Others hold parts of runs for a moment, and never wait.
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
  WARPHEAP_DEVICE growth grow(const simt::group& team, std::uint32_t of, const slots& shape,
                              std::uint64_t noise) const {
    const bool leads = team.is_leader();
    const warpheap_changes changing = classes_.changes(of, classes_.shard());
    int want = 0;
    auto result = outcome::nothing;
    if (leads && (pool().draw(noise) != none || empties().draw(noise) != none)) {
      const std::uint32_t size = classes_.size(of);
      want = wanted(shape, size, static_cast<std::uint32_t>(team.size()));
      // It doubles at most: more would give a class what it does not need.
      const std::uint32_t first = is_plentiful() ? 4 : 1;
      if (classes_.may_grow(of, first + size / static_cast<std::uint32_t>(want))) {
        changing.begin();
        result = outcome::grown;
      } else {
        result = outcome::busy;
      }
    }
    team.sync();
    result = static_cast<outcome>(team.broadcast(static_cast<std::uint32_t>(result)));
    if (result != outcome::grown) return {result, 0};
    const bitmap_tree::word_elements got =
        simt::call_apart(&adopt_apart, *this, team.mask(), want, noise);
    if (got.bits != 0) simt::call_apart(&take_in_apart, *this, team.mask(), of, got);
    if (leads) {
      if (got.bits != 0) {
        empties().insert_bits(got.word, got.bits);  // nothing holds them yet
        classes_.gained(of, got.count());
      }
      changing.end();
      classes_.grew(of);
    }
    team.sync();
    if (got.bits == 0) return {};
    return {outcome::grown, got.nth(0)};
  }

  static constexpr int most_patience = 64;
  static constexpr std::uint32_t wait_ns = 200;
  /// Slots that a class gains for each member of a group that lets it grow, at least.
  static constexpr std::uint32_t slots_a_member = 64;

  WARPHEAP_DEVICE std::uint32_t left() const {
    return simt::atomic_ref(where_.state->left).load(simt::order::relaxed);
  }
  /// Acquire pairs with `note_return`.
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

  /// Chunks that a group takes at a time for a class of `size` chunks.
  WARPHEAP_DEVICE int wanted(const slots& shape, std::uint32_t size, std::uint32_t members) const {
    const std::uint32_t remaining = left();
    std::uint32_t want = (members * slots_a_member - 1) / shape.count + 1;
    if (want < size / 4) want = size / 4;
    if (remaining <= universe_ / 4) {
      // Perhaps there are many that other classes have left empty.
      const std::uint32_t careful = remaining / 64 > size / 16 ? remaining / 64 : size / 16;
      want = careful < want ? careful : want;
    } else if (want > remaining / 512) {
      want = remaining / 512;
    }
    // Each member of a group has a few words of the class's tree to change.
    std::uint32_t most = Config.most_adopted * 8 / (shape.words / 64 + 8);
    if (most > members * 4) most = members * 4;
    if (want > most) want = most;
    return want == 0 ? 1 : static_cast<int>(want);
  }

  /// Chunks of the pool, or some that other classes do not use; all members call it. They belong to
  /// nobody.
  WARPHEAP_RARE static bitmap_tree::word_elements adopt_apart(const warpheap_supply& self,
                                                              simt::lane_mask team, int want,
                                                              std::uint64_t noise) {
    return self.adopt(simt::group(team), want, noise);
  }
  WARPHEAP_DEVICE bitmap_tree::word_elements adopt(const simt::group& team, int want,
                                                   std::uint64_t noise) const {
    bitmap_tree::word_elements got;
    if (team.is_leader()) {
      got = pool().claim_some(want, 0);
      if (got.bits != 0) {
        simt::atomic_ref(where_.state->left)
            .fetch_sub(static_cast<std::uint32_t>(got.count()), simt::order::relaxed);
      }
    }
    team.sync();
    got.bits = team.broadcast(got.bits);
    got.word = team.broadcast(got.word);
    return got.bits != 0 ? got
                         : simt::call_apart(&take_unheld_apart, *this, team.mask(),
                                            team.broadcast(want), noise);
  }

  /// The members share the work: the owner first, for who finds a word asks for it.
  WARPHEAP_RARE static void take_in_apart(const warpheap_supply& self, simt::lane_mask team,
                                          std::uint32_t of, bitmap_tree::word_elements got) {
    self.take_in(simt::group(team), of, self.classes_.desk_of(of, self.classes_.shard()).slots,
                 got);
  }
  WARPHEAP_DEVICE void take_in(const simt::group& team, std::uint32_t of, const slots& shape,
                               const bitmap_tree::word_elements& got) const {
    const auto rank = static_cast<std::uint32_t>(team.rank());
    const auto members = static_cast<std::uint32_t>(team.size());
    const auto count = static_cast<std::uint32_t>(got.count());
    const bitmap_tree open = classes_.open(of, shape, classes_.shard());
    for (std::uint32_t i = rank; i < count; i += members) {
      chunks_.hand_over(got.nth(static_cast<int>(i)), chunk_owner::nobody,
                        chunk_owner::first_class + of);
    }
    if (team.is_leader()) open.begin_insertions();
    team.sync();
    // Chunks that are neighbours are done together: their words are a run.
    std::uint64_t rest = got.bits;
    while (rest != 0) {
      const int from = lowest_bit(rest);
      const std::uint64_t gaps = ~(rest >> from);
      const int chunks = gaps == 0 ? 64 : lowest_bit(gaps);
      rest &= ~bit_range<std::uint64_t>(from, chunks);
      const std::uint32_t first = (got.word * 64 + static_cast<std::uint32_t>(from)) * shape.words;
      const std::uint32_t length = static_cast<std::uint32_t>(chunks) * shape.words;
      for (std::uint32_t leaf = first / 64 + rank; leaf <= (first + length - 1) / 64;
           leaf += members) {
        open.insert_announced(leaf, bits_of_run(first, length, leaf));
      }
    }
    team.sync();
    if (team.is_leader()) open.end_insertions();
  }

  /// Takes up to `want` chunks that nothing holds away from their classes; all members call it.
  /// They belong to nobody then. None if there seem to be no such.
  WARPHEAP_RARE static bitmap_tree::word_elements take_unheld_apart(const warpheap_supply& self,
                                                                    simt::lane_mask team, int want,
                                                                    std::uint64_t noise) {
    return self.take_unheld(simt::group(team), want, noise);
  }
  WARPHEAP_DEVICE bitmap_tree::word_elements take_unheld(const simt::group& team, int want,
                                                         std::uint64_t noise) const {
    for (;;) {
      bitmap_tree::word_elements seen;
      if (team.is_leader()) {
        seen = empties().claim_some(
            want, scale_to(static_cast<std::uint32_t>(noise), empties().leaf_words()));
      }
      team.sync();
      seen.word = team.broadcast(seen.word);
      seen.bits = team.broadcast(seen.bits);
      if (seen.bits == 0) return {};
      std::uint64_t mine = 0;
      for (int i = team.rank(); i < seen.count(); i += team.size()) {
        const std::uint32_t chunk = seen.nth(i);
        // What holds it in spite of that puts it back into the set when it lets go of it.
        const std::uint32_t owner = chunks_.take_unheld(chunk);
        if (owner == chunk_owner::nobody) continue;
        const std::uint32_t of = owner - chunk_owner::first_class;
        const slots shape = classes_.slots(of);
        classes_.lost(of);
        remove_run(classes_.open(of, shape, classes_.shard()), chunk * shape.words, shape.words);
        mine |= std::uint64_t{1} << chunk % 64;
      }
      const std::uint64_t below = team.scan_add(mine);
      seen.bits = team.shuffle(below + mine, highest_bit(team.mask().bits()));
      team.sync();
      if (seen.bits != 0) return seen;
    }
  }

  /// Puts all chunks that nothing holds into the pool; whether there was one.
  WARPHEAP_RARE static bool collect_apart(const warpheap_supply& self) { return self.collect(); }
  WARPHEAP_DEVICE bool collect() const {
    const simt::lane_mask alone{1u << simt::lane_id()};
    bool any = false;
    for (;;) {
      const bitmap_tree::word_elements found =
          simt::call_apart(&take_unheld_apart, *this, alone, 64, 0);
      if (found.bits == 0) return any;
      pool().insert_bits(found.word, found.bits);
      came_back(static_cast<std::uint32_t>(found.count()));
      any = true;
    }
  }

  WARPHEAP_DEVICE bool known_to_fail(std::uint32_t length, std::uint32_t returns) const {
    const std::uint64_t known = simt::atomic_ref(where_.state->no_run).load(simt::order::relaxed);
    const auto shortest = static_cast<std::uint32_t>(known);
    return shortest != 0 && length >= shortest &&
           static_cast<std::uint32_t>(known >> 32) == returns;
  }

  /// Takes a run out of the pool, from where the last one was found, and from the front.
  WARPHEAP_RARE static std::uint32_t find_run_apart(const warpheap_supply& self,
                                                    std::uint32_t length) {
    return self.find_run(length);
  }
  WARPHEAP_DEVICE std::uint32_t find_run(std::uint32_t length) const {
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
