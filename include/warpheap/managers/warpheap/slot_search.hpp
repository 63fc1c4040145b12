// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the manager `warpheap` finds a free slot of a class.
///
/// Lanes that want the same class at the same time form a group; its leader draws a random word of
/// the class and claims in it for the whole group. Who is left over draws words for itself. If
/// those are full as well, the class grows: by a chunk of the pool, or one that another class has
/// left empty. When there is none, groups search the chunks of the class together, and either find
/// a slot or know that there was none.

#include "warpheap/managers/warpheap/chunks.hpp"
#include "warpheap/managers/warpheap/classes.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/supply.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Lives for one call.
template <warpheap_config Config>
class warpheap_slot_search {
 public:
  using supply = warpheap_supply<Config>;
  using chunks = typename supply::chunks_type;
  using classes = typename supply::classes_type;
  using record = typename classes::record;

  static constexpr std::uint32_t none = supply::none;

  /// A slot; no chunk: there was none.
  struct place {
    std::uint32_t chunk = none;
    std::uint32_t slot = 0;
  };

  WARPHEAP_DEVICE warpheap_slot_search(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), shape_(from.classes().slots(of)) {}

  WARPHEAP_DEVICE std::uint32_t slot_bytes() const { return shape_.bytes; }

  WARPHEAP_DEVICE place take() const {
    for (int i = 0; i < Config.words_together; ++i) {
      const place got = take_together();
      if (got.chunk != none) return got;
    }
    for (int i = 0; i < Config.words_alone; ++i) {
      const place got = take_alone();
      if (got.chunk != none) return got;
    }
    return simt::call_apart(&take_scarce_apart, supply_.copy(), of_);
  }

 private:
  /// Times that a class is looked at again because others have changed it.
  static constexpr int patience = 64;
  static constexpr std::uint32_t wait_ns = 300;

  WARPHEAP_DEVICE std::uint32_t owner() const { return chunk_owner::first_class + of_; }

  /// Slots of one word that were claimed.
  struct share {
    std::uint32_t chunk = none;
    std::uint32_t word = 0;
    std::uint64_t bits = 0;
  };
  WARPHEAP_DEVICE place place_of(const share& got, int k) const {
    return {got.chunk,
            got.word * chunks::word_slots + static_cast<std::uint32_t>(kth_set_bit(got.bits, k))};
  }

  /// Claims up to `want` slots of a random word of the class.
  WARPHEAP_DEVICE share draw(int want) const {
    share got;
    const std::uint32_t entries = supply_.classes().entries_hint(of_);
    if (entries == 0) return got;
    const std::uint64_t noise = simt::noise();
    const auto high = static_cast<std::uint32_t>(noise >> 32);
    const std::uint32_t chunk = supply_.classes().chunk_hint(of_, scale_to(high, entries));
    if (chunk == classes::no_chunk) return got;
    const auto low = static_cast<std::uint32_t>(noise);
    return claim(chunk, scale_to(low, shape_.words), want,
                 static_cast<int>(low % chunks::word_slots));
  }
  WARPHEAP_DEVICE share claim(std::uint32_t chunk, std::uint32_t word, int want, int from) const {
    share got{chunk, word, 0};
    // Most words are empty when memory is plentiful, and what they are is learnt from the claim.
    got.bits = supply_.chunks()
                   .claim(chunk, word, chunks::empty_word(owner()), owner(), shape_, want, from)
                   .bits;
    return got;
  }

  /// One word for all lanes that call together and want the same class.
  WARPHEAP_DEVICE place take_together() const {
    const simt::group team = simt::coalesced();
    const simt::group same = team.match(of_);
    share got;
    if (same.is_leader()) got = draw(same.size());
    // Of the team, and not of each group: groups of several classes go on side by side.
    const int leader = same.leader();
    got.bits = team.shuffle(got.bits, leader);
    got.chunk = team.shuffle(got.chunk, leader);
    got.word = team.shuffle(got.word, leader);
    team.sync();  // what the leader has acquired is the members' as well
    return same.rank() < popcount(got.bits) ? place_of(got, same.rank()) : place{};
  }
  WARPHEAP_DEVICE place take_alone() const {
    const share got = draw(1);
    return got.bits != 0 ? place_of(got, 0) : place{};
  }

  /// Out of line, for what is seldom needed.
  WARPHEAP_RARE static place take_scarce_apart(const supply& from, std::uint32_t of) {
    return warpheap_slot_search(from, of).take_scarce();
  }
  /// Ends: each turn grows the class, or waits while others do, or ends with a search that found
  /// nothing; there are `patience` of them.
  WARPHEAP_DEVICE place take_scarce() const {
    record& mine = supply_.classes().of(of_);
    const simt::atomic_ref waiting(mine.waiting);
    const simt::group arrived = simt::coalesced().match(of_);
    // Relaxed, here and below: they only say how much growth is wanted.
    if (arrived.is_leader()) {
      waiting.fetch_add(static_cast<std::uint32_t>(arrived.size()), simt::order::relaxed);
    }
    arrived.sync();
    place got;
    for (int turn = 0; turn < patience && got.chunk == none; ++turn) {
      const simt::group team = simt::coalesced().match(of_);
      const growth grown = grow(team);
      if (grown == growth::done || grown == growth::by_others) {
        if (grown == growth::by_others) simt::backoff(wait_ns);
        for (int i = 0; i < Config.words_alone && got.chunk == none; ++i) got = take_alone();
        continue;
      }
      if (search(team, got)) break;
    }
    const simt::group leaving = simt::coalesced().match(of_);
    if (leaving.is_leader()) {
      waiting.fetch_sub(static_cast<std::uint32_t>(leaving.size()), simt::order::relaxed);
    }
    return got;
  }

  enum class growth : std::uint32_t { done, by_others, impossible };

  /// Lets the class grow by a chunk if that is wanted. A collective.
  WARPHEAP_DEVICE growth grow(const simt::group& team) const {
    record& mine = supply_.classes().of(of_);
    auto result = growth::impossible;
    if (team.is_leader() && may_have_chunks()) {
      result = may_grow(mine) ? growth::done : growth::by_others;
    }
    team.sync();
    result = static_cast<growth>(team.broadcast(static_cast<std::uint32_t>(result)));
    if (result != growth::done) return result;
    const std::uint32_t chunk = supply_.add_chunk(team, of_);
    if (team.is_leader()) simt::atomic_ref(mine.growing).fetch_sub(1, simt::order::release);
    team.sync();
    return chunk == none ? growth::impossible : growth::done;
  }
  WARPHEAP_DEVICE bool may_have_chunks() const {
    return supply_.pool().any() || !supply_.whole().emptied.is_out(1);
  }
  /// Whether one more chunk is to be added: for twice the slots that lanes wait for, at most.
  WARPHEAP_DEVICE bool may_grow(record& mine) const {
    const std::uint32_t lanes = simt::atomic_ref(mine.waiting).load(simt::order::relaxed);
    const std::uint32_t most = 1 + lanes / shape_.count * (supply_.is_plentiful() ? 2 : 1);
    const simt::atomic_ref growing(mine.growing);
    std::uint32_t now = growing.load(simt::order::relaxed);
    while (now < most) {
      if (growing.compare_exchange(now, now + 1, simt::order::acq_rel)) return true;
    }
    return false;
  }

  /// Searches the class's chunks for a slot for each member; true if there is none for the caller,
  /// nor a chunk to be had. A collective.
  WARPHEAP_DEVICE bool search(const simt::group& team, place& got) const {
    auto& full = supply_.classes().full(of_);
    const std::uint32_t entries = supply_.classes().entries(of_);
    if (entries != 0) {
      full.search(
          team, [&] { return supply_.classes().examine_entries(of_); },
          [&] { return got.chunk == none ? 1u : 0u; },
          [&](std::uint32_t first, std::uint32_t count) { return visit(team, first, count, got); });
      team.sync();
    }
    if (got.chunk != none) return true;
    return is_out(entries);
  }

  /// Whether there certainly was no slot and no chunk at a moment of the call: no slot all the time
  /// between the two looks at the class, and in between no chunk, nor one on its way to the class.
  WARPHEAP_DEVICE bool is_out(std::uint32_t entries) const {
    auto& full = supply_.classes().full(of_);
    const std::uint64_t before = entries == 0 ? 1 : full.known(1);
    // Acquire pairs with the end of `grow`. In this order: a chunk that a lane has taken from the
    // pool, or from another class, is either on its way, or the class says that it has come.
    const bool nothing =
        before != 0 && !may_have_chunks() &&
        simt::atomic_ref(supply_.classes().of(of_).growing).load(simt::order::acquire) == 0 &&
        (entries == 0 ? supply_.classes().entries(of_) == 0 : full.known(1) == before);
    if (!nothing) simt::backoff(wait_ns);
    return nothing;
  }

  /// Examines chunks of the table and serves the members from them. Whether something is left.
  WARPHEAP_DEVICE std::uint32_t visit(const simt::group& team, std::uint32_t first,
                                      std::uint32_t count, place& got) const {
    const auto members = static_cast<std::uint32_t>(team.size());
    bool left = false;
    for (std::uint32_t done = 0; done < count; done += members) {
      const std::uint32_t at = done + static_cast<std::uint32_t>(team.rank());
      const std::uint32_t mine =
          at < count ? supply_.classes().examine_chunk(of_, first + at) : classes::no_chunk;
      const bool hit =
          mine != classes::no_chunk && (supply_.chunks().examine(mine) & chunks::roomy) != 0;
      for (simt::lane_mask hits = team.ballot(hit); !hits.empty();
           hits = hits.without(hits.lowest())) {
        left = examine(team, team.shuffle(mine, hits.lowest()), got) || left;
      }
    }
    return left ? 1u : 0u;
  }

  /// Examines the words of a chunk, each member others, and serves the members from them. Whether a
  /// slot may be left. A collective.
  WARPHEAP_DEVICE bool examine(const simt::group& team, std::uint32_t chunk, place& got) const {
    const chunks& map = supply_.chunks();
    bool is_mine = false;
    if (team.is_leader()) is_mine = map.clear(chunk, owner(), chunks::roomy);
    team.sync();
    if (!team.any(is_mine)) return false;
    const auto members = static_cast<std::uint32_t>(team.size());
    bool left = false;
    for (std::uint32_t done = 0; done < shape_.words; done += members) {
      const std::uint32_t mine = done + static_cast<std::uint32_t>(team.rank());
      bool room = false;
      if (mine < shape_.words) {
        const std::uint64_t seen = map.examine(chunk, mine);
        room = chunks::is_of(seen, owner()) && !map.mark_full(chunk, mine, seen, owner(), shape_);
      }
      left = left || room;
      for (simt::lane_mask finders = team.ballot(room); !finders.empty();
           finders = finders.without(finders.lowest())) {
        const std::uint32_t word = team.shuffle(mine, finders.lowest());
        if (got.chunk == none) take_in(chunk, word, got);
      }
    }
    left = team.any(left);
    if (left && team.is_leader()) map.set(chunk, chunks::roomy);
    team.sync();
    return left;
  }
  WARPHEAP_DEVICE void take_in(std::uint32_t chunk, std::uint32_t word, place& got) const {
    const int from = static_cast<int>(simt::noise() % chunks::word_slots);
    const share won = claim(chunk, word, 1, from);
    if (won.bits != 0) got = place_of(won, 0);
  }

  const supply& supply_;
  std::uint32_t of_;
  warpheap_slots shape_;
};

WARPHEAP_END_NAMESPACE
