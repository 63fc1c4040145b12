// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the manager `warpheap` keeps in device memory for each class: the set of its open chunks,
/// and what is known about all of them together. A chunk may stay in the set for a while after it
/// has left the class, which its words show. Which sizes a class has: size_classes.hpp.

#include "warpheap/core/align.hpp"
#include "warpheap/core/divisor.hpp"
#include "warpheap/managers/warpheap/chunk_set.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/class_hints.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/size_classes.hpp"
#include "warpheap/managers/warpheap/state.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <warpheap_config Config>
class warpheap_classes {
 public:
  using chunks = warpheap_chunks<Config>;

  // What one step needs lies together, so that it takes one load (`simt::load_hints`): lanes of a
  // warp that want different classes wait for each load.

  /// By members of the shape: where a slot is.
  struct alignas(16) slot_divisors {
    short_divisor by_bytes;
    short_divisor by_per_word;
  };
  /// Which word a turn selects.
  struct alignas(16) turn_shape {
    short_divisor by_words;
    std::uint32_t population;  ///< chunks, for those who only guess
    std::uint32_t growing;     ///< 1 while a group lets the class grow on behalf of others
  };
  struct alignas(64) record {
    warpheap_slots shape;  ///< never changes, nor do the divisors by its members
    slot_divisors divisors;
    turn_shape turns;
    std::uint64_t unmarked;   ///< {changes: 32 | words that are not marked: 32}
    std::uint32_t searching;  ///< lanes that look at listed words
  };

  /// Where everything lies.
  struct parts {
    record* records;
    std::uint32_t* hints;    ///< `warpheap_class_hints::words_for(universe)` a class
    std::uint32_t* entries;  ///< of a chunk among its class's hints
    std::uint64_t* trees;    ///< `bitmap_tree::words_for(universe)` a class
  };

  /// A heap has no more chunks than a hint can tell apart.
  static constexpr int most_chunks_log2 = 16;

  warpheap_classes() = default;
  warpheap_classes(const warpheap_size_classes& sizes, const parts& where, std::uint32_t universe)
      : sizes_(sizes),
        where_(where),
        first_tree_(where.trees, universe),
        tree_stride_(static_cast<std::uint32_t>(bitmap_tree::words_for(universe))),
        universe_(universe) {}

  WARPHEAP_HD const warpheap_size_classes& sizes() const { return sizes_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t of = rank; of < sizes_.count(); of += count) {
      record& fresh = where_.records[of];
      fresh.shape = shape(static_cast<std::uint32_t>(of));
      fresh.divisors = {short_divisor::of(fresh.shape.bytes),
                        short_divisor::of(fresh.shape.per_word)};
      fresh.turns = {short_divisor::of(fresh.shape.words), 0, 0};
      fresh.unmarked = 0;
      fresh.searching = 0;
    }
    const std::uint64_t hints = warpheap_class_hints::words_for(universe_) * sizes_.count();
    for (std::uint64_t i = rank; i < hints; i += count) where_.hints[i] = 0;
    for (std::uint64_t i = rank; i < universe_; i += count) where_.entries[i] = 0;
    // Empty trees are zero.
    const std::uint64_t words = std::uint64_t{tree_stride_} * sizes_.count();
    for (std::uint64_t i = rank; i < words; i += count) where_.trees[i] = 0;
  }

  /// What `format` writes for `slots` to read.
  WARPHEAP_DEVICE warpheap_slots shape(std::uint32_t of) const {
    const std::uint32_t bytes = sizes_.slot_bytes(of);
    return warpheap_slots::of(bytes, sizes_.chunk_bytes() / bytes, chunks::word_slots,
                              static_cast<std::uint32_t>(chunks::words_for(sizes_.chunk_bytes())));
  }
  WARPHEAP_DEVICE warpheap_slots slots(std::uint32_t of) const {
    // Never changes after `format`, so the multiprocessor may keep it.
    return simt::load_hints(where_.records[of].shape);
  }
  /// A bit of a word of a chunk.
  struct slot_bit {
    std::uint32_t word;
    std::uint32_t bit;
  };
  /// Where the bit is of the slot at byte `inside` of a chunk.
  WARPHEAP_DEVICE slot_bit bit_at(std::uint32_t of, std::uint32_t inside) const {
    record& known = where_.records[of];
    const slot_divisors divisors = simt::load_hints(known.divisors);
    const std::uint32_t slot = divisors.by_bytes.quotient(inside);
    const std::uint32_t word = divisors.by_per_word.quotient(slot);
    return {word, slot - word * simt::load_hint(known.shape.per_word)};
  }
  WARPHEAP_DEVICE record& of(std::uint32_t number) const { return where_.records[number]; }
  /// The open chunks of a class.
  WARPHEAP_DEVICE warpheap_chunk_set open(std::uint32_t of) const {
    return warpheap_chunk_set(first_tree_.at(where_.trees + std::size_t{tree_stride_} * of));
  }

  /// `words` more words are, or are about to be, unmarked. Relaxed: the caller then unmarks them by
  /// a read-modify-write with release, or has a chunk in hand, of which others learn from where it
  /// comes from (`warpheap_state::begin_move`).
  WARPHEAP_DEVICE void count_unmarked(std::uint32_t of, std::uint32_t words) const {
    unmarked(of).fetch_add(change + words, simt::order::relaxed);
  }
  /// `words` words were marked, or no longer belong to the class. Release pairs with the fence in
  /// `all_marked`: a lane that reads zero sees the marks.
  WARPHEAP_DEVICE void count_marked(std::uint32_t of, std::uint32_t words) const {
    unmarked(of).fetch_add(change - words, simt::order::release);
  }
  /// Whether all words of the class are marked; never reads an old value.
  WARPHEAP_DEVICE bool are_marked_now(std::uint32_t of) const {
    return static_cast<std::uint32_t>(unmarked(of).fetch_add(0, simt::order::relaxed)) == 0;
  }
  /// Words of the class that are not marked. Relaxed: a lane counts a word before it lists it, so
  /// who knows that it is listed reads a count with it.
  WARPHEAP_DEVICE std::uint32_t unmarked_words(std::uint32_t of) const {
    return static_cast<std::uint32_t>(unmarked(of).load(simt::order::relaxed));
  }
  /// 0 unless all words of the class are marked. If two calls return the same nonzero value, all
  /// words were marked during the whole time between them.
  WARPHEAP_DEVICE std::uint64_t all_marked(std::uint32_t of) const {
    // Lanes that find words need no fence: it would make the multiprocessor discard its hints.
    const std::uint64_t now = unmarked(of).load(simt::order::relaxed);
    if (static_cast<std::uint32_t>(now) != 0) return 0;
    simt::fence(simt::order::acquire);
    return now + 1;
  }

  /// Whether seven of eight words of a class are marked, or it has none, as far as the
  /// multiprocessor knows.
  WARPHEAP_DEVICE bool is_nearly_full(std::uint32_t of, std::uint32_t words) const {
    return few_unmarked(of, words, 8);
  }
  /// Whether that is so, or half of the words are marked if chunks have few: all of those may have
  /// room by chance.
  WARPHEAP_DEVICE bool is_tight(std::uint32_t of, std::uint32_t words) const {
    return few_unmarked(of, words, words < 4 ? 2 : 8);
  }
  /// Whether a lane should look at listed words, as drawn by `noise`: in a tight class, the fewer
  /// of its slots those may have, the fewer lanes, but always some. The others of its warp wait for
  /// it.
  WARPHEAP_DEVICE bool may_search(std::uint32_t of, const warpheap_slots& shape,
                                  std::uint32_t noise) const {
    record& known = where_.records[of];
    const auto now = static_cast<std::uint32_t>(simt::load_hint(known.unmarked));
    if (now == 0) return false;
    const std::uint32_t all = simt::load_hint(known.turns.population) * shape.words;
    // A word of few slots seldom has a free one, and serves few lanes (docs/decisions/0064). The
    // product counts in a tight class alone, where it fits: there, `now` is at most an eighth of
    // the words, or half of them if chunks have few.
    const std::uint32_t slots = shape.per_word < 32 ? shape.per_word : 32;
    return scale_to(noise, all) <= now / 2 * slots / 32 + all / 2048 || !is_tight(of, shape.words);
  }
  /// Whether all are, as far as the multiprocessor knows.
  WARPHEAP_DEVICE bool seem_marked(std::uint32_t of) const {
    return static_cast<std::uint32_t>(simt::load_hint(where_.records[of].unmarked)) == 0;
  }

  /// How many of `lanes` may look at listed words: at any time, at most as many as unmarked words
  /// can have free slots, or `least` if that is more. They report the end of their look by
  /// `end_search`. Relaxed: the count only decides which lanes look.
  WARPHEAP_DEVICE int begin_search(std::uint32_t of, int lanes, std::uint32_t per_word,
                                   std::uint32_t least) const {
    const std::uint32_t words = unmarked_words(of);
    // For many words, the product would overflow, and no GPU has that many lanes.
    const std::uint32_t slots = words < 0xffffu ? words * per_word : 0x3fffffu;
    const std::uint32_t most = slots < least ? least : slots;
    const simt::atomic_ref searching(where_.records[of].searching);
    if (searching.load(simt::order::relaxed) >= most) return 0;
    const std::uint32_t before =
        searching.fetch_add(static_cast<std::uint32_t>(lanes), simt::order::relaxed);
    const int room = before < most ? static_cast<int>(most - before) : 0;
    if (room >= lanes) return lanes;
    end_search(of, lanes - room);
    return room;
  }
  WARPHEAP_DEVICE void end_search(std::uint32_t of, int lanes) const {
    simt::atomic_ref(where_.records[of].searching)
        .fetch_sub(static_cast<std::uint32_t>(lanes), simt::order::relaxed);
  }

  /// Adds chunks whose words are open and listed. A collective.
  WARPHEAP_DEVICE void add(const simt::group& team, std::uint32_t of,
                           bitmap_tree::word_elements got) const {
    const warpheap_class_hints known = hints(of);
    std::uint32_t entry = 0;
    if (team.is_leader()) {
      open(of).insert_bits(got.word, got.bits);
      entry = known.extend(static_cast<std::uint32_t>(got.count()));
    }
    team.sync();
    entry = team.broadcast(entry);
    for (int k = team.rank(); k < got.count(); k += team.size()) {
      known.name(entry + static_cast<std::uint32_t>(k), got.nth(k));
    }
    known.drop_some(team);
  }
  /// Takes a chunk out whose words are closed; returns how many hints are left. \pre the caller
  /// alone may do so
  WARPHEAP_DEVICE std::uint32_t remove(std::uint32_t of, std::uint32_t chunk) const {
    open(of).remove(chunk);
    return hints(of).remove(chunk);
  }

  /// Where a lane may look first, instead of in `open`.
  WARPHEAP_DEVICE warpheap_class_hints hints(std::uint32_t of) const {
    return {where_.records[of].turns.population,
            where_.hints + warpheap_class_hints::words_for(universe_) * of, where_.entries,
            universe_};
  }
  /// A word of a chunk.
  struct spot {
    std::uint32_t chunk = bitmap_tree::none;
    std::uint32_t word = 0;
  };
  /// The word of the class for this turn (`warpheap_state::next_turn`). If there are many chunks,
  /// each place of turns has every 16th of them, and visits each of their words once in as many
  /// turns as there are words, chunk after chunk. If there are few chunks, all places together go
  /// through all words, but for another one in 17 each time; so does each place by itself, unless
  /// the number of words is a multiple of 34. No chunk: the class has none. \param fresh whether to
  /// look at what there is now, and not at what the multiprocessor remembers: in a class that
  /// grows, it remembers few chunks
  WARPHEAP_DEVICE spot hinted(std::uint32_t of, std::uint32_t turn, std::uint32_t words,
                              bool fresh = false) const {
    turn_shape& known = where_.records[of].turns;
    const turn_shape turns = simt::load_hints(known);
    const std::uint32_t count =
        fresh ? simt::atomic_ref(known.population).load(simt::order::relaxed) : turns.population;
    if (count == 0) return {};
    const target to = target_of(turns, count, turn, words);
    std::uint32_t& two = hints(of).word(to.entry);
    const std::uint32_t now =
        fresh ? simt::atomic_ref(two).load(simt::order::relaxed) : simt::load_hint(two);
    return {warpheap_class_hints::half_of(now, to.entry), to.word};
  }
  /// Drops the hint of a turn that has found nothing, if it leads to no chunk of the class; returns
  /// whether it does not.
  WARPHEAP_DEVICE bool drop_hint(std::uint32_t of, std::uint32_t turn, std::uint32_t words) const {
    const turn_shape turns = simt::load_hints(where_.records[of].turns);
    if (turns.population == 0) return false;
    return hints(of).drop(target_of(turns, turns.population, turn, words).entry);
  }

  /// A word of the class's chunk with that number, as of now: numbers are given in the order in
  /// which chunks come, and the last chunk gets that of one which leaves.
  WARPHEAP_DEVICE spot named(std::uint32_t of, std::uint32_t number, std::uint32_t word) const {
    return {hints(of).chunk_at(number), word};
  }

 private:
  /// Enough that it does not matter if some places have one more than others.
  static constexpr std::uint32_t many_hints = 256;
  static constexpr std::uint64_t change = std::uint64_t{1} << 32;

  /// What a turn selects among `hints`.
  struct target {
    std::uint32_t entry;  ///< of the hint
    std::uint32_t word;
  };
  WARPHEAP_DEVICE target target_of(const turn_shape& turns, std::uint32_t hints, std::uint32_t turn,
                                   std::uint32_t words) const {
    hints = hints < universe_ ? hints : universe_;
    constexpr std::uint32_t places = warpheap_state::turn_places;
    const bool own = hints >= many_hints;
    const std::uint32_t place = turn % places;
    const std::uint32_t all = own ? ceil_div(hints - place, places) : hints;
    // Turns of one place are 17 apart, not 16, because there may be as many words as that, or half
    // as many: a warp that calls again and again would come to the same word each time. If there
    // are 17, or twice as many, it is 17 that leads to the same ones.
    const bool apart = all * words % (places + 1) != 0;
    const std::uint32_t shifted = (turn + (apart ? turn / places : 0)) & 0x7fffffffu;
    const std::uint32_t taken = own ? turn / places : shifted;  // `by_words` takes no more
    const std::uint32_t round = taken / all;
    const std::uint32_t at = taken - round * all;
    const std::uint32_t rounds = turns.by_words.quotient(round);
    const std::uint32_t entry = own ? at * places + place : at;
    return {entry, round - rounds * words};
  }
  /// Whether at most one of `each` words of a class is not marked.
  WARPHEAP_DEVICE bool few_unmarked(std::uint32_t of, std::uint32_t words,
                                    std::uint32_t each) const {
    record& known = where_.records[of];
    const auto now = static_cast<std::uint32_t>(simt::load_hint(known.unmarked));
    return std::uint64_t{now} * each <=
           std::uint64_t{simt::load_hint(known.turns.population)} * words;
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> unmarked(std::uint32_t of) const {
    return simt::atomic_ref(where_.records[of].unmarked);
  }

  warpheap_size_classes sizes_{8};
  parts where_{};
  bitmap_tree first_tree_{nullptr, 1};
  std::uint32_t tree_stride_ = 0;
  std::uint32_t universe_ = 1;
};

WARPHEAP_END_NAMESPACE
