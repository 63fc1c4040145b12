// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Queues of chunk indices (the variants C): a chunk with free pages has one entry in its class's
/// queue, and the semaphore counts the free pages of all of them.
///
/// No lane walks along the queue. A lane that was granted units takes an entry out, claims pages of
/// that chunk only, and puts the entry back at once if pages are left. So only one claimer at a
/// time looks at a chunk, none looks at a full one, and a claimer that comes late never meets a
/// chunk that has been reused.
///
/// Progress of lanes that wait for an entry: the lane of each drawn position still has a unit to
/// find. Pages that were granted and not found lie on chunks whose entries are in the queue, or are
/// about to be put there by a lane that frees, grows or claims and never waits for a lane behind
/// it. Each entry that comes serves the position that was drawn first.

#include "warpheap/managers/ouroboros/memory_map.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

template <class Map>
class chunk_queues {
 public:
  using sizes = typename Map::sizes;

  WARPHEAP_DEVICE explicit chunk_queues(const Map& map) : map_(map) {}

  WARPHEAP_HD static constexpr std::uint32_t used_at_first(std::uint32_t used,
                                                           std::uint32_t /*pages*/) {
    return used;
  }

  /// Whether other classes have wholly free chunks in their queues.
  WARPHEAP_DEVICE bool has_more(std::uint32_t cls) const {
    for (std::uint32_t other = 0; other < sizes::classes; ++other) {
      // Acquire pairs with the release in `reclaim_from`.
      if (other != cls && whole(other).load(simt::order::acquire) > 0) return true;
    }
    return false;
  }

  WARPHEAP_DEVICE void* locate(const simt::group& members, std::uint32_t cls,
                               std::uint32_t granted) const {
    const auto rank = static_cast<std::uint32_t>(members.rank());
    void* block = nullptr;
    std::uint32_t found = 0;
    if (sizes::pages_log2(cls) >= 5) {
      // One chunk may well have pages for a whole warp: one entry for all.
      found = locate_together(members, cls, granted, block);
    }
    if (found < granted) {
      const auto queue = map_.queue(cls);
      std::uint64_t first = 0;
      if (members.is_leader()) first = queue.draw_front(granted - found);
      first = members.broadcast(first);
      if (rank >= found && rank < granted) block = locate_one(cls, first + (rank - found));
    }
    return block;
  }

  /// Keeps a new chunk, whose pages from `used` on are marked as free, for others.
  WARPHEAP_DEVICE std::uint32_t keep(const simt::group& members, std::uint32_t cls,
                                     std::uint32_t chunk, std::uint32_t used,
                                     std::uint32_t pages) const {
    const auto queue = map_.queue(cls);
    std::uint64_t position = 0;
    if (members.is_leader()) position = queue.draw_back(1);
    position = members.broadcast(position);
    queue.prepare(members, position, 1);
    if (members.is_leader()) queue.put(position, chunk);
    return pages - used;
  }

  /// All chunks have entries.
  WARPHEAP_DEVICE std::uint32_t unpark(const simt::group& /*members*/, std::uint32_t /*cls*/,
                                       std::uint32_t /*first_rank*/, std::uint32_t /*wanted*/,
                                       std::uint32_t& made, void*& /*block*/) const {
    made = 0;
    return 0;
  }

  /// Gives a wholly free chunk of another class back to the supply; false if none was found. Called
  /// by one lane.
  WARPHEAP_DEVICE bool reclaim(std::uint32_t cls) const {
    for (std::uint32_t other = 0; other < sizes::classes; ++other) {
      if (other != cls && whole(other).load(simt::order::relaxed) > 0 && reclaim_from(other)) {
        return true;
      }
    }
    return false;
  }

  WARPHEAP_DEVICE void put_back(std::uint32_t cls, std::uint32_t chunk, std::uint32_t page) const {
    const simt::group same = simt::coalesced(map_.chunk(0)).match(chunk);
    map_.table().free_page(chunk, page);
    same.sync();
    const auto freed = static_cast<std::uint32_t>(same.size());
    if (same.is_leader()) count_freed(cls, chunk, freed);
    // No lane asks for a page before the one that it freed is counted. The members hold nothing for
    // which their leader may wait.
    same.sync();
    // The chunk is in the supply. A lane that misses the units which this one takes next sees that:
    // pairs with the acquire with which it asks for units.
    if (freed == 1u << sizes::pages_log2(cls)) simt::fence(simt::order::release);
  }

  // Only while no lane allocates.

  WARPHEAP_DEVICE void inspect_entry(std::uint32_t cls, std::uint64_t position,
                                     inspection& findings) const {
    value_type chunk = 0;
    const bool there = map_.queue(cls).peek(position, chunk);
    bool sound = there && chunk < map_.chunk_count();
    if (sound) {
      const chunk_state state = map_.table().get(static_cast<std::uint32_t>(chunk));
      sound = state.kind() == chunk_kind::data && state.cls() == cls && state.free_pages() != 0;
    }
    findings.expect(sound, 5, position);
  }

  WARPHEAP_DEVICE static std::uint64_t units_expected(std::uint64_t free_pages,
                                                      std::uint64_t /*entries*/) {
    return free_pages;
  }
  WARPHEAP_DEVICE static std::uint64_t entries_expected(std::uint64_t with_free,
                                                        std::uint64_t /*entries*/) {
    return with_free;
  }

 private:
  using value_type = typename Map::value_type;
  static constexpr std::uint32_t pause = 200;  // nanoseconds

  WARPHEAP_DEVICE simt::atomic_ref<std::int64_t> whole(std::uint32_t cls) const {
    return simt::atomic_ref(map_.words(cls).whole);
  }

  /// Where a lane begins to look for bits, so that lanes of one chunk do not meet.
  WARPHEAP_DEVICE static std::uint32_t start_word() {
    return static_cast<std::uint32_t>(simt::thread_rank() >> 5);
  }
  /// Claims pages of a chunk whose entry the caller has taken out, and puts the entry back if
  /// needed.
  WARPHEAP_DEVICE std::uint32_t claim(std::uint32_t cls, std::uint32_t chunk,
                                      std::uint32_t pages) const {
    const auto claimed = map_.table().take(chunk, pages);
    if (claimed.before == 1u << sizes::pages_log2(cls)) {
      whole(cls).fetch_sub(1, simt::order::relaxed);
    }
    if (claimed.some_left) enqueue(cls, chunk);
    return claimed.pages;
  }

  /// The leader takes one entry out and hands up to `granted` pages of that chunk to the first
  /// members. Returns how many.
  WARPHEAP_DEVICE std::uint32_t locate_together(const simt::group& members, std::uint32_t cls,
                                                std::uint32_t granted, void*& block) const {
    value_type entry = 0;
    std::uint32_t claimed = 0;
    std::uint32_t word = 0;
    if (members.is_leader()) {
      const auto queue = map_.queue(cls);
      const std::uint64_t position = queue.draw_front(1);
      while (!queue.poll(position, entry)) simt::backoff(pause);
      claimed = claim(cls, static_cast<std::uint32_t>(entry), granted);
      word = start_word();
    }
    const std::uint32_t chunk = members.broadcast(static_cast<std::uint32_t>(entry));
    claimed = members.broadcast(claimed);
    word = members.broadcast(word);
    const auto rank = static_cast<std::uint32_t>(members.rank());
    for (std::uint32_t handed = 0; handed < claimed; ++word) {
      word &= sizes::words_of(cls) - 1;
      std::uint32_t bits = 0;
      if (members.is_leader()) bits = map_.table().clear_bits(chunk, word, claimed - handed);
      bits = members.broadcast(bits);
      const auto count = static_cast<std::uint32_t>(popcount(bits));
      if (rank >= handed && rank < handed + count) {
        const int bit = kth_set_bit(bits, static_cast<int>(rank - handed));
        block = map_.page(cls, chunk, word * 32 + static_cast<std::uint32_t>(bit));
      }
      handed += count;
    }
    members.sync();  // orders the members after what the leader has acquired
    return claimed;
  }

  /// Waits for the entry at `position` and takes one page of its chunk. The loop itself does what
  /// the entry's next taker, perhaps a lane of this warp, waits for.
  WARPHEAP_DEVICE void* locate_one(std::uint32_t cls, std::uint64_t position) const {
    const auto queue = map_.queue(cls);
    void* block = nullptr;
    while (block == nullptr) {
      value_type entry = 0;
      if (queue.poll(position, entry)) {
        const auto chunk = static_cast<std::uint32_t>(entry);
        claim(cls, chunk, 1);
        const std::uint32_t page =
            map_.table().clear_one(chunk, start_word(), sizes::words_of(cls));
        block = map_.page(cls, chunk, page);
      } else {
        simt::backoff(pause);
      }
    }
    return block;
  }

  /// Counts pages of a chunk that are marked as free.
  WARPHEAP_DEVICE void count_freed(std::uint32_t cls, std::uint32_t chunk,
                                   std::uint32_t freed) const {
    const std::uint32_t pages = 1u << sizes::pages_log2(cls);
    const std::uint32_t before = map_.table().add(chunk, freed);
    if (freed == pages) {
      // No other lane has seen these pages free, so the chunk can go at once.
      dissolve(cls, chunk);
      return;
    }
    if (before + freed == pages) whole(cls).fetch_add(1, simt::order::relaxed);
    if (before == 0) enqueue(cls, chunk);
    signal(cls, freed);
  }

  WARPHEAP_DEVICE void enqueue(std::uint32_t cls, std::uint32_t chunk) const {
    const simt::group peers = simt::coalesced(map_.chunk(0)).match(cls);
    const auto queue = map_.queue(cls);
    const auto count = static_cast<std::uint32_t>(peers.size());
    std::uint64_t first = 0;
    if (peers.is_leader()) first = queue.draw_back(count);
    first = peers.broadcast(first);
    queue.prepare(peers, first, count);
    queue.put(first + static_cast<std::uint32_t>(peers.rank()), chunk);
  }

  WARPHEAP_DEVICE void signal(std::uint32_t cls, std::uint32_t pages) const {
    const simt::group peers = simt::coalesced(map_.chunk(0)).match(cls);
    const std::uint32_t all = sync::sum_over(peers, pages).total;
    peers.sync();  // what members did with their chunks comes before their pages are counted
    if (peers.is_leader()) map_.units(cls).signal(all);
    peers.sync();  // no lane asks for a page before the one that it freed is counted
  }

  WARPHEAP_DEVICE void dissolve(std::uint32_t cls, std::uint32_t chunk) const {
    const std::uint32_t span = 1u << sizes::span_log2(cls);
    map_.table().dissolve(chunk, span);
    map_.supply().give(chunk, span);
    map_.supply().refund(span);
  }

  WARPHEAP_DEVICE bool reclaim_from(std::uint32_t cls) const {
    // A lane that holds all units of a chunk may take entries out, like any lane that was granted
    // some, and may take a chunk away, because no other lane can be granted its pages. The units
    // are borrowed: lanes of the class that need pages meanwhile wait for what comes back.
    const std::uint32_t pages = 1u << sizes::pages_log2(cls);
    if (!map_.units(cls).borrow_all(pages)) return false;
    const auto queue = map_.queue(cls);
    // One look at each entry finds a chunk that was wholly free all the time.
    for (std::uint32_t look = 0; look <= map_.chunk_count(); ++look) {
      const std::uint64_t position = queue.draw_front(1);
      value_type entry = 0;
      while (!queue.poll(position, entry)) simt::backoff(pause);
      const auto chunk = static_cast<std::uint32_t>(entry);
      if (map_.table().wholly_free(chunk, pages)) {
        // In this order: see `can_grow`. Release: a lane that sees the count sees the supply's.
        dissolve(cls, chunk);
        whole(cls).fetch_sub(1, simt::order::release);
        map_.note_move(cls);
        map_.units(cls).deliver(pages, 0);
        return true;
      }
      enqueue(cls, chunk);
      if (whole(cls).load(simt::order::relaxed) == 0) break;
    }
    map_.units(cls).deliver(pages, pages);
    return false;
  }

  const Map& map_;
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
