// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the manager `warpheap` finds a free slot of a class.
///
/// A multiprocessor walks the words of its class one after another, group by group: the desk says
/// which is next. The leader of a group claims in that word for the whole group; lanes that are
/// left over form a group again, with the next word.
///
/// When words have so little room that a group would need many, each lane claims for itself, in a
/// word that no other lane of the group tries.
///
/// When words were full again and again, one group of the multiprocessor moves: it draws words of
/// the whole class at random, lets the class grow if they have little room, and sets the desk to
/// new chunks or to where it drew. The others wait for that a moment, but no longer.

#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/supply.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call.
template <warpheap_config Config>
class warpheap_slot_search {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = warpheap_chunks<Config>;
  using classes = warpheap_classes<Config>;
  using slots = warpheap_slots;

  static constexpr std::uint32_t none = bitmap_tree::none;

  /// A slot, or no chunk.
  struct place {
    std::uint32_t chunk = none;
    std::uint32_t slot = 0;
  };

  WARPHEAP_DEVICE warpheap_slot_search(const supply& from, std::uint32_t of)
      : supply_(from),
        of_(of),
        shard_(from.classes().shard()),
        shape_(from.classes().desk_of(of, shard_).slots) {}

  WARPHEAP_HD const slots& shape() const { return shape_; }

  /// Takes a slot for the calling lane; none if there is none.
  WARPHEAP_DEVICE place take() const {
    int waited = 0;
    int detours = most_detours;
    for (int left = patience; left > 0 && detours > 0;) {
      std::uint32_t at = 0;
      for (int round = 0; round < Config.group_rounds; ++round) {
        const simt::group same = simt::coalesced().match(of_);
        share got;
        if (same.is_leader()) got = claim_together(same.size());
        same.sync();  // what the leader has acquired is the members' as well
        got.bits = same.broadcast(got.bits);
        at = got.at = same.broadcast(got.at);
        const bool little = same.broadcast(static_cast<int>(got.full)) != 0;
        if (same.rank() < popcount(got.bits)) return place_of(got, same.rank());
        if (little) break;
      }
      const place found = simt::call_apart(&alone_apart, supply_.copy(), of_, at, waited);
      if (found.chunk != none) return found;
      ++waited;
      if (found.slot != moves) continue;
      waited = 0;
      const verdict moved = simt::call_apart(&move_apart, supply_.copy(), of_);
      if (moved == verdict::out) break;
      --(moved == verdict::wait ? left : detours);
    }
    return {};
  }

 private:
  using claimed = typename chunks::claimed;
  using outcome = typename supply::outcome;

  /// Looks at what others change before a request gives up.
  static constexpr int patience = 8;
  /// Moves to places with room that others are faster to take, and chunks that the class has got
  /// and that another class takes away again while they are empty.
  static constexpr int most_detours = 64;
  static constexpr std::uint32_t wait_ns = 200;
  /// Looks at a desk whose multiprocessor is about to move, and the time between them.
  static constexpr int most_waits = 16;
  static constexpr std::uint32_t move_ns = 500;
  /// Leaves without a slot for a lane, after which it moves.
  static constexpr int most_leaves = 2;
  /// In place of a slot: the multiprocessor has to move.
  static constexpr std::uint32_t moves = 1;

  // A desk's `next`: [ moving: 1 | scarce: 1 | place | unit: 3 ]. Somebody is about to change it;
  // memory was scarce when that was done last. A place is [ chunk | word of the chunk ], the word
  // as many bits as a chunk's words need, so that it runs on into the next chunk. A group goes on
  // by as many eighths of a word as it takes: groups of few lanes share words.
  static constexpr int unit_bits = 3;
  static constexpr int units = 1 << unit_bits;
  // The same flags in a place.
  static constexpr std::uint32_t moving = 1u << 31;
  static constexpr std::uint32_t scarce = 1u << 30;
  static constexpr std::uint32_t nowhere = 1u << 29;

  WARPHEAP_DEVICE static std::uint32_t place_in(std::uint64_t next) {
    const auto at = static_cast<std::uint32_t>(next >> unit_bits);
    const auto flags = static_cast<std::uint32_t>(next >> 32) & (moving | scarce);
    return flags | ((next & classes::nowhere) != 0 ? nowhere : at);
  }
  WARPHEAP_DEVICE static std::uint64_t next_for(std::uint32_t place) {
    const std::uint64_t flags = std::uint64_t{place & (moving | scarce)} << 32;
    if ((place & nowhere) != 0) return flags | classes::nowhere;
    return flags | std::uint64_t{place & ~(moving | scarce)} << unit_bits;
  }

  /// Slots of one word that were claimed.
  struct share {
    std::uint32_t at = 0;  ///< [ chunk | word of the chunk ], with flags
    std::uint64_t bits = 0;
    bool full = false;  ///< the word was full, or has so little room that lanes should go on alone
  };

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> next() const {
    return simt::atomic_ref(supply_.classes().desk_of(of_, shard_).next);
  }
  WARPHEAP_DEVICE bitmap_tree open() const { return supply_.classes().open(of_, shape_, shard_); }
  WARPHEAP_DEVICE std::uint32_t owner() const { return chunk_owner::first_class + of_; }

  // Places of words: [ chunk | word of the chunk ], and their numbers in the class.

  WARPHEAP_DEVICE int word_bits() const { return ceil_log2(shape_.words); }
  WARPHEAP_DEVICE std::uint32_t chunk_at(std::uint32_t at) const {
    return (at & (nowhere - 1)) >> word_bits();
  }
  WARPHEAP_DEVICE bool is_somewhere(std::uint32_t at) const {
    return (at & (moving | nowhere)) == 0 && chunk_at(at) < supply_.universe();
  }
  /// There may be up to twice as many places in a chunk as words: some are met twice.
  WARPHEAP_DEVICE std::uint32_t word_at(std::uint32_t at) const {
    const std::uint32_t word = at & low_bits<std::uint32_t>(word_bits());
    return word < shape_.words ? word : word - shape_.words;
  }
  WARPHEAP_DEVICE std::uint32_t number_at(std::uint32_t at) const {
    return chunk_at(at) * shape_.words + word_at(at);
  }
  WARPHEAP_DEVICE std::uint32_t place_of_number(std::uint32_t number) const {
    const std::uint32_t chunk = number / shape_.words;
    return chunk << word_bits() | (number - chunk * shape_.words);
  }

  WARPHEAP_DEVICE place place_of(const share& got, int k) const {
    return {chunk_at(got.at), word_at(got.at) * chunks::word_slots +
                                  static_cast<std::uint32_t>(kth_set_bit(got.bits, k))};
  }
  WARPHEAP_DEVICE std::uint64_t look_at(std::uint32_t at) const {
    return supply_.chunks().word(chunk_at(at), word_at(at));
  }
  WARPHEAP_DEVICE std::uint64_t slots_at(std::uint32_t at) const {
    return chunks::slots_in(shape_, word_at(at));
  }
  WARPHEAP_DEVICE int room_in(std::uint32_t at, std::uint64_t content) const {
    const std::uint64_t used = chunks::used_of(content);
    if (used != 0 && !chunks::is_of(content, owner())) return 0;
    return popcount(slots_at(at) & ~used);
  }

  /// Claims for a group in the next word.
  WARPHEAP_DEVICE share claim_together(int want) const {
    const auto room_of_word =
        static_cast<int>(shape_.count < chunks::word_slots ? shape_.count : chunks::word_slots);
    const int parts = want * 3 >= room_of_word ? units : want * units / room_of_word + 1;
    share got{place_in(next().fetch_add(static_cast<std::uint64_t>(parts), simt::order::relaxed)),
              0, true};
    if (!is_somewhere(got.at)) return got;
    const std::uint64_t content = look_at(got.at);
    const int room = room_in(got.at, content);
    if (room * 4 >= want && room != 0) {
      claim(got, content, want, 0);
      got.full = false;
    } else if (room == 0 && (got.at & scarce) == 0) {
      if (is_used_up(got.at)) {
        leave(got.at);
      } else {
        got.full = false;
      }
    }
    return got;
  }

  /// Whether other words near a full one are full as well.
  WARPHEAP_DEVICE bool is_used_up(std::uint32_t at) const {
    for (std::uint32_t distance = 13; distance < 64; distance += 13) {
      const std::uint32_t near = at + distance;
      if (chunk_at(near) >= supply_.universe()) break;
      if (room_in(near, look_at(near)) != 0) return false;
    }
    return true;
  }

  /// There is no room: unless another lane has gone on, the next words are those of the leaf behind
  /// if memory is scarce, for then it is as good as any other, and else the multiprocessor moves.
  WARPHEAP_DEVICE void leave(std::uint32_t at) const {
    std::uint64_t now = next().load(simt::order::relaxed);
    const std::uint32_t there = place_in(now);
    if ((there & (moving | nowhere)) != 0 || there - at > 64) return;
    const std::uint32_t to = (at & scarce) != 0 ? at + 64 : nowhere;
    next().compare_exchange(now, next_for(to), simt::order::relaxed);
  }

  /// Claims up to `want` slots of the word at `got.at`.
  WARPHEAP_DEVICE void claim(share& got, std::uint64_t content, int want, int from) const {
    const claimed result =
        supply_.chunks().claim(chunk_at(got.at), word_at(got.at), content, owner(), shape_, want,
                               from, [this](std::uint32_t unheld) {
                                 simt::call_apart(&supply::unheld, supply_.copy(), unheld);
                               });
    got.bits = result.bits;
    got.full = result.room == 0 || result.foreign;
  }

  /// Each lane for itself, in words near the next one; `moves` if there seems to be nothing.
  WARPHEAP_RARE static place alone_apart(const supply& from, std::uint32_t of, std::uint32_t at,
                                         int waited) {
    return warpheap_slot_search(from, of).alone(at, waited);
  }
  WARPHEAP_DEVICE place alone(std::uint32_t at, int waited) const {
    // Formed anew each time: lanes that got a slot have left.
    const simt::group same = simt::coalesced().match(of_);
    at = same.broadcast(at);
    waited = same.broadcast(waited);
    if ((at & moving) != 0 && waited < most_waits) {
      simt::backoff(move_ns);
      return {none, 0};
    }
    std::uint64_t bits = 0;
    if (is_somewhere(at) && waited < most_waits + most_leaves) {
      if (same.is_leader()) bits = open().peek_word(number_at(at) / 64);
      same.sync();
      bits = same.broadcast(bits);
    }
    if (bits == 0) return {none, moves};
    const share got = claim_alone(same, number_at(at), bits);
    const bool served = got.bits != 0;
    if (same.any(!served)) {
      // What is full must not be found again, but while memory is plentiful others find room.
      if ((at & scarce) != 0 && same.any(!served && got.full)) {
        hide(same, !served && got.full, got.at);
      }
      if (same.is_leader()) leave(at);
      same.sync();
    }
    return served ? place_of(got, 0) : place{none, 0};
  }

  /// Tries a few words of the leaf with word `number`, each lane others.
  WARPHEAP_DEVICE share claim_alone(const simt::group& team, std::uint32_t number,
                                    std::uint64_t bits) const {
    share got;
    const auto there = static_cast<std::uint32_t>(popcount(bits));
    for (int i = 0; i < Config.draws && got.bits == 0; ++i) {
      const std::uint32_t k =
          number + static_cast<std::uint32_t>(team.rank()) + static_cast<std::uint32_t>(i) * 32;
      got.at = place_of_number(number / 64 * 64 + static_cast<std::uint32_t>(kth_set_bit(
                                                      bits, static_cast<int>(k % there))));
      claim(got, look_at(got.at), 1, static_cast<int>(simt::noise() % chunks::word_slots));
    }
    return got;
  }

  enum class verdict : std::uint32_t { again, later, wait, out };

  /// Sets the desk to where slots are, or lets the class grow, or finds out that there is nothing.
  WARPHEAP_RARE static verdict move_apart(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).move();
  }
  WARPHEAP_DEVICE verdict move() const {
    const simt::group team = simt::coalesced().match(of_);
    std::uint32_t flags = 0;
    if (team.is_leader()) {
      next().fetch_or(std::uint64_t{moving} << 32, simt::order::relaxed);
      flags = supply_.is_plentiful() ? 0 : scarce;
    }
    team.sync();
    flags = team.broadcast(flags);
    const sample drawn = simt::call_apart(&draw_apart, supply_, of_, team.mask(), flags == 0);
    std::uint32_t to = drawn.place;
    auto grown = outcome::grown;
    if (drawn.is_crowded) {
      const auto growth = simt::call_apart(&supply::grow_apart, supply_, team.mask(), of_);
      grown = growth.what;
      if (grown == outcome::grown) to = growth.first << word_bits();
    }
    if (team.is_leader()) {
      next().store(next_for(flags | (to == none ? nowhere : to)), simt::order::relaxed);
    }
    team.sync();
    if (grown == outcome::grown) return verdict::again;
    auto result = verdict::later;
    if (to == none && grown == outcome::nothing) {
      result =
          simt::call_apart(&is_out_apart, supply_, of_, team.mask()) ? verdict::out : verdict::wait;
    }
    if (result != verdict::out) simt::backoff(wait_ns);
    return result;
  }

  /// What words of the whole class, drawn at random, look like.
  struct sample {
    std::uint32_t place;  ///< one with room if there is one, or none
    bool is_crowded;      ///< they have so little room that the class should grow
  };

  /// While memory is plentiful, classes are to be half empty.
  WARPHEAP_RARE static sample draw_apart(const supply& from, std::uint32_t of, simt::lane_mask team,
                                         bool plentiful) {
    return warpheap_slot_search(from, of).draw(simt::group(team), plentiful);
  }
  WARPHEAP_DEVICE sample draw(const simt::group& team, bool plentiful) const {
    int drawn = 0;
    int roomy = 0;
    std::uint32_t best = none;
    while (drawn < 8) {
      const std::uint32_t word = open().draw(simt::noise());
      const std::uint32_t at = word == none ? 0 : place_of_number(word);
      const int room = word == none ? 0 : room_in(at, look_at(at));
      const int enough = plentiful ? popcount(slots_at(at)) / 2 : 1;
      const simt::lane_mask with_room = team.ballot(room >= enough && room != 0);
      const simt::lane_mask any = team.ballot(word != none);
      if (!with_room.empty()) {
        best = team.shuffle(at, with_room.lowest());
      } else if (best == none && !any.empty()) {
        best = team.shuffle(at, any.lowest());
      }
      roomy += with_room.count();
      drawn += team.size();
    }
    return {best, plentiful ? roomy * 2 < drawn : roomy == 0};
  }

  /// Whether there is certainly no slot, no chunk in the pool, and none that nothing holds.
  WARPHEAP_RARE static bool is_out_apart(const supply& from, std::uint32_t of,
                                         simt::lane_mask team) {
    return warpheap_slot_search(from, of).is_out(simt::group(team));
  }
  WARPHEAP_DEVICE bool is_out(const simt::group& team) const {
    const auto rank = static_cast<std::uint32_t>(team.rank());
    const auto members = static_cast<std::uint32_t>(team.size());
    const warpheap_changes own = supply_.classes().changes(of_, shard_);
    const warpheap_changes all = supply_.changes();
    const std::uint64_t own_before = own.look(rank, members);
    const std::uint64_t all_before = all.look();
    bool nothing = warpheap_changes::quiet(own_before) && warpheap_changes::quiet(all_before);
    if (!team.all(nothing)) return false;
    team.sync();
    if (team.is_leader()) {
      nothing = !open().any() && !supply_.pool().any() && !supply_.empties().any();
    }
    team.sync();
    nothing = nothing && own.look(rank, members) == own_before && all.look() == all_before;
    return team.all(nothing);
  }

  /// Takes words that were full out of the class's tree, for the members that say so. A lane that
  /// frees a slot before the word is marked is seen here, and a lane that does so later sees the
  /// mark, and finds the word again.
  WARPHEAP_DEVICE void hide(const simt::group& team, bool hides, std::uint32_t at) const {
    const warpheap_changes changing = supply_.classes().changes(of_, shard_);
    if (team.is_leader()) changing.begin();
    team.sync();
    if (hides) {
      const std::uint32_t chunk = chunk_at(at);
      const std::uint32_t number = word_at(at);
      const std::uint32_t word = chunk * shape_.words + number;
      open().remove(word);
      if (!supply_.chunks().hide(chunk, number, owner(), shape_) &&
          supply_.chunks().belongs_to(chunk, owner())) {
        open().insert(word);
      }
    }
    team.sync();
    if (team.is_leader()) changing.end();
  }

  const supply& supply_;
  std::uint32_t of_;
  std::uint32_t shard_;  ///< the multiprocessor, when the call began
  slots shape_;
};

WARPHEAP_END_NAMESPACE
