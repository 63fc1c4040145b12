// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the manager `warpheap` finds a free slot of a class.
///
/// A multiprocessor walks the words of its class one after another, group by group: the desk says
/// which is next. The leader of a group claims in that word for the whole group; lanes that are left
/// over form a group again, with the next word.
///
/// When words have so little room that a group would need many, each lane claims for itself, in a
/// word that no other lane of the group tries.
///
/// When words were full again and again, one group of the multiprocessor moves: it draws words of
/// the whole class at random, lets the class grow if they have little room, and sets the desk to new
/// chunks or to where it drew. The others wait for that a moment, but no longer.

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
    for (int round = 0; round < Config.group_rounds; ++round) {
      const simt::group same = simt::coalesced().match(of_);
      share got;
      if (same.is_leader()) got = claim_together(same.size());
      same.sync();  // what the leader has acquired is the members' as well
      got.at = same.broadcast(got.at);
      got.bits = same.broadcast(got.bits);
      if (same.rank() < popcount(got.bits)) return place_of(got, same.rank());
      if (got.at == none) break;
    }
    return search(supply_.copy(), of_);
  }

 private:
  using claimed = typename chunks::claimed;
  using outcome = typename supply::outcome;

  /// Looks at what others change before a request gives up.
  static constexpr int patience = 64;
  static constexpr std::uint32_t wait_ns = 200;
  /// Looks at a desk whose multiprocessor is about to move, and the time between them.
  static constexpr int most_waits = 16;
  static constexpr std::uint32_t move_ns = 500;
  /// Leaves without a slot for a lane, after which it moves.
  static constexpr int most_leaves = 2;

  // A desk's `next`: [ moving: 1 | scarce: 1 | chunk | word of the chunk ], the last as many bits as
  // a chunk's words need, so that it runs on into the next chunk. Somebody is about to change it;
  // memory was scarce when that was done last.
  static constexpr std::uint32_t moving = 1u << 31;
  static constexpr std::uint32_t scarce = 1u << 30;

  /// Slots of one word that were claimed.
  struct share {
    std::uint32_t at = none;  ///< [ chunk | word of the chunk ]; none: lanes should go on alone
    std::uint64_t bits = 0;
    bool full = false;  ///< the word was full
  };

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> next() const {
    return simt::atomic_ref(supply_.classes().desk_of(of_, shard_).next);
  }
  WARPHEAP_DEVICE bitmap_tree open() const { return supply_.classes().open(of_, shape_, shard_); }
  WARPHEAP_DEVICE std::uint32_t owner() const { return chunk_owner::first_class + of_; }

  // Places of words: [ chunk | word of the chunk ], and their numbers in the class.

  WARPHEAP_DEVICE int word_bits() const { return ceil_log2(shape_.words); }
  WARPHEAP_DEVICE std::uint32_t chunk_at(std::uint32_t at) const {
    return (at & ~(moving | scarce)) >> word_bits();
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
    share got;
    const std::uint32_t at = next().fetch_add(1, simt::order::relaxed);
    if ((at & moving) != 0 || chunk_at(at) >= supply_.universe()) return got;
    const std::uint64_t content = look_at(at);
    const int room = room_in(at, content);
    if (room != 0 && room * 4 < want) return got;
    got.at = at & ~scarce;
    if (room != 0) {
      claim(got, content, want, 0);
    } else if (is_used_up(at)) {
      leave(at);
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

  /// There is no room: the next words are those of the leaf behind, unless another lane has moved on.
  WARPHEAP_DEVICE void leave(std::uint32_t at) const {
    std::uint32_t now = next().load(simt::order::relaxed);
    if ((now & moving) != 0 || now - at > 64) return;
    next().compare_exchange(now, (now & scarce) | ((at & ~scarce) + 64), simt::order::relaxed);
  }

  /// Claims up to `want` slots of the word at `got.at`.
  WARPHEAP_DEVICE void claim(share& got, std::uint64_t content, int want, int from) const {
    const claimed result = supply_.chunks().claim(
        chunk_at(got.at), word_at(got.at), content, owner(), shape_, want, from,
        [this](std::uint32_t unheld) { supply::unheld(supply_.copy(), unheld); });
    got.bits = result.bits;
    got.full = result.room == 0 || result.foreign;
  }

  /// What lanes do when the words that their multiprocessor walks have little room.
  WARPHEAP_RARE static place search(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).search_alone();
  }

  /// Each lane for itself, but for where it looks and how the class grows.
  WARPHEAP_DEVICE place search_alone() const {
    int waits = most_waits;
    int leaves = 0;
    for (int left = patience; left > 0;) {
      // Formed anew each time: lanes that got a slot have left.
      const simt::group same = simt::coalesced().match(of_);
      std::uint32_t at = 0;
      std::uint64_t bits = 0;
      if (same.is_leader()) {
        at = next().load(simt::order::relaxed);
        bits = open().peek_word(number_at(at) / 64);
      }
      same.sync();
      at = same.broadcast(at);
      bits = same.broadcast(bits);
      waits = same.broadcast(waits);
      leaves = same.broadcast(leaves);
      if ((at & moving) != 0 && waits > 0) {
        --waits;
        simt::backoff(move_ns);
        continue;
      }
      if (bits == 0 || leaves >= most_leaves) {
        leaves = 0;
        const verdict found = move(supply_, of_, same.mask());
        if (found == verdict::out) return {};
        if (found == verdict::wait) --left;
        if (found != verdict::again) simt::backoff(wait_ns);
        continue;
      }
      ++leaves;
      const share got = claim_alone(same, number_at(at), bits);
      const bool served = got.bits != 0;
      if (same.any(!served)) {
        // What is full must not be found again, but while memory is plentiful others find room.
        if ((at & scarce) != 0 && same.any(!served && got.full)) {
          hide(supply_, of_, same.mask(), !served && got.full, got.at);
        }
        if (same.is_leader()) leave(at);
        same.sync();
      }
      if (served) return place_of(got, 0);
    }
    return {};
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
  WARPHEAP_RARE static verdict move(const supply& from, std::uint32_t of, simt::lane_mask team) {
    return warpheap_slot_search(from, of).move(simt::group(team));
  }
  WARPHEAP_DEVICE verdict move(const simt::group& team) const {
    const std::uint64_t noise = simt::noise();
    std::uint32_t drawn = none;
    std::uint32_t flags = 0;
    if (team.is_leader()) {
      next().fetch_or(moving, simt::order::relaxed);
      drawn = open().draw(noise);
      flags = supply_.is_plentiful() ? 0 : scarce;
    }
    team.sync();
    drawn = team.broadcast(drawn);
    flags = team.broadcast(flags);
    auto grown = typename supply::growth{};
    const bool wanting = drawn == none || is_crowded(team, flags == 0, noise);
    if (wanting) {
      grown = supply_.grow(team, of_, shape_, noise);
      if (grown.what == outcome::grown) drawn = grown.first * shape_.words;
    }
    if (team.is_leader()) {
      next().store(flags | (drawn == none ? 0 : place_of_number(drawn)), simt::order::relaxed);
    }
    team.sync();
    if (!wanting || grown.what == outcome::grown) return verdict::again;
    if (drawn != none || grown.what == outcome::busy) return verdict::later;
    return is_out(team) ? verdict::out : verdict::wait;
  }

  /// Whether words drawn at random have so little room that the class should grow: while memory is
  /// plentiful, classes are to be half empty.
  WARPHEAP_DEVICE bool is_crowded(const simt::group& team, bool plentiful,
                                  std::uint64_t noise) const {
    int drawn = 0;
    int roomy = 0;
    while (drawn < 8) {
      noise = mix64(noise);
      const std::uint32_t word = open().draw(noise);
      const std::uint32_t at = word == none ? 0 : place_of_number(word);
      const int room = word == none ? 0 : room_in(at, look_at(at));
      const int enough = plentiful ? popcount(slots_at(at)) / 2 : 1;
      roomy += team.ballot(room >= enough && room != 0).count();
      drawn += team.size();
    }
    return plentiful ? roomy * 2 < drawn : roomy == 0;
  }

  /// Whether there is certainly no slot, no chunk in the pool, and none that nothing holds.
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
  WARPHEAP_RARE static void hide(const supply& from, std::uint32_t of, simt::lane_mask team,
                                 bool hides, std::uint32_t at) {
    warpheap_slot_search(from, of).hide(simt::group(team), hides, at);
  }
  WARPHEAP_DEVICE void hide(const simt::group& team, bool hides, std::uint32_t at) const {
    const warpheap_changes changing = supply_.classes().changes(of_, shard_);
    if (team.is_leader()) changing.begin();
    team.sync();
    if (hides) {
      const std::uint32_t chunk = chunk_at(at);
      const std::uint32_t number = word_at(at);
      const std::uint32_t word = chunk * shape_.words + number;
      open().remove(word);
      const std::uint64_t before = supply_.chunks().hide(chunk, number);
      const bool full =
          chunks::used_of(before) == slots_at(at) && chunks::is_of(before, owner());
      if (!full) {
        supply_.chunks().unhide(chunk, number, owner());
        if (supply_.chunks().belongs_to(chunk, owner())) open().insert(word);
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
