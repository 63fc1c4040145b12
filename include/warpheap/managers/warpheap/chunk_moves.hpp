// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// How chunks of the manager `warpheap` come to a class, from the pool or from a class that has
/// left them empty. A chunk on its way is in the hand of one lane or team, which announces that
/// (`warpheap_state::begin_move`).
template <warpheap_config Config>
class warpheap_chunk_moves {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;

  static constexpr std::uint32_t none = supply::none;

  WARPHEAP_DEVICE explicit warpheap_chunk_moves(const supply& of) : supply_(of) {}

  /// What a class gets.
  struct wish {
    std::uint32_t chunks = 1;  ///< in the same steps, if one word of the pool has as many
    bool with_slots = true;    ///< whether the team gets slots of the first one from the pool
    std::uint32_t words = 1;   ///< of the empties to clear at each try, see `words_at_look`
  };
  /// How many words of the empties the `look`-th look of a request may clear. A chunk that is noted
  /// before its first use is in use later, so there may be as many such entries as chunks. Removing
  /// them all takes 175 ms in a heap of 32 GiB, while the first looks of other kinds usually find a
  /// slot. A request that looks on removes all of them before it gives up.
  WARPHEAP_HD static constexpr std::uint32_t words_at_look(int look) {
    return std::uint32_t{1} << (look < 31 ? look : 31);
  }
  /// As which look the first one counts of a part of a warp in a dry heap, which makes few.
  static constexpr int first_of_part = 6;
  /// Where a chunk comes from: the class has it without slots for the team; with the first slots of
  /// its first word, one per member; or it was the class's, and empty a moment ago.
  enum class source { for_all, for_team, own };
  /// A chunk for class `of`, or none. A collective. \param wanted the leader's counts
  WARPHEAP_RARE static std::uint32_t add(const supply& in, std::uint32_t of,
                                         simt::lane_mask members, wish wanted, source* how) {
    const simt::group team(members);
    taken got;
    std::uint32_t hand = 0;
    if (team.is_leader()) {
      hand = in.whole().begin_move();
      got = in.pool().claim_some(static_cast<int>(wanted.chunks), in.any_word());
    }
    team.sync();
    got = {team.broadcast(got.word), team.broadcast(got.bits)};
    std::uint32_t chunk = got.bits == 0 ? none : got.nth(0);
    *how = wanted.with_slots ? source::for_team : source::for_all;
    if (chunk == none) {
      bool is_new = true;
      chunk = warpheap_chunk_moves(in).take_empty(team, of, wanted.words, is_new);
      if (chunk != none) got = {chunk / 64, std::uint64_t{1} << chunk % 64};
      // It comes alone, and others may take its slots before the team does.
      *how = is_new ? source::for_team : source::own;
    }
    if (chunk != none && *how != source::own) {
      simt::call_apart(&open_apart, in, of, got, members, *how == source::for_team);
    }
    if (chunk == none && team.is_leader() && !in.seems_to_have_chunks()) {
      in.whole().set_dry(true);
    }
    if (team.is_leader()) in.whole().end_move(hand);
    team.sync();
    return chunk;
  }

  /// A chunk for the caller alone, which gives it an owner, or none: then there was none in the
  /// pool, and then none among the empties, or others were closing them. Beside the last ones, so
  /// that the rest stays in one piece, unless many lanes want one at the same time. \param words as
  /// in `wish`
  WARPHEAP_RARE static std::uint32_t take(const supply& in, std::uint32_t words) {
    const std::uint32_t hand = in.whole().begin_move();
    const simt::atomic_ref hint(in.whole().run_word);
    const std::uint32_t word = hint.load(simt::order::relaxed);
    const std::uint64_t there = in.pool().peek_word(word);
    std::uint32_t chunk =
        word * 64 + static_cast<std::uint32_t>(there == 0 ? 0 : lowest_bit(there));
    if (there == 0 || !in.pool().remove(chunk)) {
      const taken got = in.pool().claim_some(1, in.any_word());
      chunk = got.bits == 0 ? none : got.nth(0);
      if (chunk != none) hint.store(chunk / 64, simt::order::relaxed);
    }
    bool is_taken = true;
    if (chunk == none) {
      const simt::group alone(simt::lane_mask::of(simt::lane_id()));
      chunk = warpheap_chunk_moves(in).take_empty(alone, none, words, is_taken);
    }
    in.whole().end_move(hand);
    return chunk;
  }

  /// Takes chunks that are in use out of as many words of the empties, from one on. A collective,
  /// for which the caller has announced that it holds some.
  WARPHEAP_RARE static void clear_words(const supply& in, std::uint32_t from, std::uint32_t words,
                                        simt::lane_mask members) {
    const std::uint32_t all = in.empties().leaf_words();
    for (std::uint32_t left = words < all ? words : all; left != 0; --left) {
      warpheap_chunk_moves(in).clear(simt::group(members), from % all);
      ++from;
    }
  }

  /// Takes a chunk from its class if all of its slots are free; returns whether it did. A
  /// collective.
  WARPHEAP_RARE static bool close_apart(const supply& in, std::uint32_t chunk,
                                        simt::lane_mask team) {
    return warpheap_chunk_moves(in).close(simt::group(team), chunk);
  }

 private:
  using taken = bitmap_tree::word_elements;

  /// The number of chunks that a request tries to take from their classes at a time.
  static constexpr int most_tries = 8;

  WARPHEAP_RARE static void open_apart(const supply& in, std::uint32_t of, taken got,
                                       simt::lane_mask team, bool with_slots) {
    warpheap_chunk_moves(in).open(simt::group(team), of, got, with_slots);
  }
  /// Gives chunks in the caller's hand to a class. A collective.
  WARPHEAP_DEVICE void open(const simt::group& team, std::uint32_t of, taken got,
                            bool with_slots) const {
    const warpheap_slots shape = supply_.classes().slots(of);
    const std::uint32_t owner = chunk_owner::first_class + of;
    const auto rank = static_cast<std::uint32_t>(team.rank());
    const auto size = static_cast<std::uint32_t>(team.size());
    const int count = got.count();
    // Each has a word in use, so that no lane takes it away before it is complete.
    for (int k = team.rank(); k < count; k += team.size()) {
      supply_.chunks().give(got.nth(k), owner | chunks::word_in_use);
    }
    if (team.is_leader()) {
      supply_.classes().count_unmarked(of, shape.words * static_cast<std::uint32_t>(count));
    }
    team.sync();
    // Pairs with the acquire in `try_claim`, for all words and lists that follow: with a release
    // each, a first launch of 16 B blocks took four times as long (docs/decisions/0033).
    simt::fence(simt::order::release);
    for (std::uint64_t left = got.bits; left != 0; left &= left - 1) {
      const std::uint32_t chunk = got.word * 64 + static_cast<std::uint32_t>(lowest_bit(left));
      supply_.listed().list_all(chunk, shape.words, rank, size);
      for (std::uint32_t i = rank; i < shape.words; i += size) {
        const bool is_first = with_slots && i == 0 && left == got.bits;
        const std::uint64_t used =
            is_first ? chunks::slots_in(shape, 0) & low_bits<std::uint64_t>(team.size()) : 0;
        supply_.chunks().open(chunk, i, owner, used);
      }
    }
    team.sync();
    supply_.classes().add(team, of, got);
    // The first one may have the team's slots. Each lane gives up those that it has named: an empty
    // chunk may leave the class at once.
    for (int k = team.rank(); k < count; k += team.size()) {
      if (k != 0 || !with_slots) supply_.count_out(got.nth(k));
    }
    team.sync();
  }

  /// An empty chunk, taken away from its class unless that is `of` (or none), or none. A
  /// collective. A chunk that cannot be closed goes back: a lane has claimed a slot of it and is
  /// about to count it in.
  WARPHEAP_DEVICE std::uint32_t take_empty(const simt::group& team, std::uint32_t of,
                                           std::uint32_t words, bool& is_taken) const {
    // The most that one of them may clear: lanes that meet here may be at different looks, and each
    // counts its own as cleared. Each word once: others may note chunks that are in use as fast as
    // this one takes them away.
    const std::uint32_t all = supply_.empties().leaf_words();
    words = ~team.least(~(words < all ? words : all));
    for (int tries = 0; tries < most_tries; ++tries) {
      const std::uint32_t chunk = find_empty(team, words);
      bool is_own = false;
      if (team.is_leader()) {
        is_own = chunk != none && of != none &&
                 chunks::owner_of(supply_.chunks().look(chunk)) == chunk_owner::first_class + of;
        // Lanes may have looked meanwhile, and must not conclude that there was none.
        if (is_own) {
          supply_.classes().hints(of).name_again(chunk);
          supply_.note_empty(chunk);
        }
      }
      team.sync();
      is_taken = !team.any(is_own);
      if (chunk == none || !is_taken) return chunk;
      if (simt::call_apart(&close_apart, supply_, chunk, team.mask())) return chunk;
    }
    return none;
  }

  /// A chunk of which no word was in use a moment ago, taken out of the empties, or none. Those
  /// that are in use again leave them, too: the lane that frees their last slot notes them again. A
  /// collective. Ends: each turn but the last counts `words` down; members wait for each other, and
  /// in the set for lanes that never wait (bitmap_tree). \param words which it may clear
  WARPHEAP_DEVICE std::uint32_t find_empty(const simt::group& team, std::uint32_t words) const {
    std::uint32_t word = supply_.any_word();
    for (;; --words) {
      std::uint32_t chunk = none;
      bool is_stale = false;
      if (team.is_leader()) {
        const taken got = supply_.empties().claim_some(1, word);
        if (got.bits != 0) {
          chunk = got.nth(0);
          is_stale = is_in_use(supply_.chunks().examine(chunk));
        }
      }
      team.sync();
      chunk = team.broadcast(chunk);
      if (!team.any(is_stale)) return chunk;
      if (words == 0) return none;
      // The next look begins there. Chunks are taken lowest bit first, so those that a class has
      // taken from others, and uses, have lower bits than what the others have left: a look into
      // another word would find one of them.
      word = chunk / 64;
      simt::call_apart(&clear_words, supply_, word, 1u, team.mask());
    }
  }
  /// Takes the chunks that are in use out of a word of the empties. A collective. Several states at
  /// a time: a lane alone would take 65 us if it waited for each.
  WARPHEAP_DEVICE void clear(const simt::group& team, std::uint32_t word) const {
    const std::uint32_t first = word * 64;
    const auto rank = static_cast<std::uint32_t>(team.rank());
    const auto size = static_cast<std::uint32_t>(team.size());
    const std::uint64_t noted = team.broadcast(supply_.empties().peek_word(word));
    std::uint64_t in_use =
        noted & team.merge_bits(supply_.chunks().in_use(first, supply_.universe(), rank, size));
    if (team.is_leader()) in_use = supply_.empties().remove_bits(word, in_use);
    team.sync();
    in_use = team.broadcast(in_use);
    // Those looks may be old; and a lane that has freed its last slot may have seen it noted.
    constexpr std::uint32_t together = 8;
    for (std::uint32_t i = rank; i < 64; i += size * together) {
      std::uint64_t empty = 0;
      for (std::uint32_t k = 0; k < together; ++k) {
        const std::uint32_t at = i + k * size;
        if (at >= 64 || (in_use >> at & 1) == 0) continue;
        if (!is_in_use(supply_.chunks().examine(first + at))) empty |= std::uint64_t{1} << at;
      }
      for (; empty != 0; empty &= empty - 1) {
        supply_.note_empty(first + static_cast<std::uint32_t>(lowest_bit(empty)));
      }
    }
    team.sync();
  }
  WARPHEAP_DEVICE static bool is_in_use(std::uint32_t state) {
    return chunks::words_in_use(state) != 0;
  }

  /// Takes a chunk from its class if all of its slots are free; returns whether it did. A
  /// collective.
  WARPHEAP_DEVICE bool close(const simt::group& team, std::uint32_t chunk) const {
    std::uint32_t owner = chunk_owner::nobody;
    if (team.is_leader()) owner = supply_.chunks().begin_closing(chunk);
    team.sync();
    owner = team.broadcast(owner);
    if (owner == chunk_owner::nobody) return false;
    const std::uint32_t of = owner - chunk_owner::first_class;
    const std::uint32_t words = simt::load_hint(supply_.classes().of(of).shape.words);
    using closed_word = typename chunks::closed;
    auto closed = static_cast<std::uint32_t>(team.rank());
    std::uint32_t marked = 0;
    for (; closed < words; closed += static_cast<std::uint32_t>(team.size())) {
      const auto came = supply_.chunks().close(chunk, closed, owner);
      if (came == closed_word::in_use) break;
      if (came == closed_word::marked) ++marked;
    }
    // The marks are gone in any case.
    if (marked != 0) supply_.classes().count_unmarked(of, marked);
    bool whole = team.all(closed >= words);
    team.sync();
    if (whole) {
      if (team.is_leader()) whole = supply_.chunks().end_closing(chunk);
      team.sync();
      whole = team.broadcast(static_cast<std::uint32_t>(whole)) != 0;
    }
    simt::call_apart(whole ? &leave_class : &stay_in_class, supply_, team.mask(), of, chunk, closed,
                     marked != 0);
    return whole;
  }
  /// What follows when all words are closed. A collective.
  WARPHEAP_RARE static void leave_class(const supply& in, simt::lane_mask members, std::uint32_t of,
                                        std::uint32_t chunk, std::uint32_t /*closed*/,
                                        bool /*marked*/) {
    const simt::group team(members);
    if (team.is_leader()) {
      const warpheap_slots shape = in.classes().slots(of);
      in.orders().shrink(of, in.classes().remove(of, chunk), shape.count);
      in.classes().count_marked(of, shape.words);
    }
    team.sync();
  }
  /// What follows when not all words could be closed. A collective. \param closed the first word of
  /// the caller's share that it has not closed \param marked whether it has closed marked ones
  WARPHEAP_RARE static void stay_in_class(const supply& in, simt::lane_mask members,
                                          std::uint32_t of, std::uint32_t chunk,
                                          std::uint32_t closed, bool marked) {
    const simt::group team(members);
    simt::fence(simt::order::release);  // for the words that follow, as in `open`
    // Lanes that found them closed have listed them again, or dropped offers of marked ones.
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < closed;
         i += static_cast<std::uint32_t>(team.size())) {
      in.chunks().open(chunk, i, chunk_owner::first_class + of);
      if (marked) in.list(chunk, i);
    }
    team.sync();
    if (team.is_leader() && in.chunks().give_up_closing(chunk)) in.note_empty(chunk);
    team.sync();
  }

  const supply& supply_;
};

WARPHEAP_END_NAMESPACE
