// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Queues of page indices (the variants P): a free page is an entry of its class's queue.
///
/// A page for which the queue has no room is parked: it is marked in its chunk's bitmap, and chunks
/// with parked pages are in a bitmap tree of their class. Growth takes parked pages before it takes
/// a new chunk. Virtualised queues share their room, so sizes that were used first may leave none
/// for others, all of whose pages are then parked; a million lanes must not meet in one word for
/// that. A group takes one parked chunk at a time: if a page is a whole chunk, 32 lanes take 32
/// turns.
///
/// Sizes in turn (VA and VL): the queues of all sizes share room for as many free pages as a 256th
/// of the heap has entries. The sizes that were freed first fill it, and pages of later sizes are
/// parked. A million blocks of 16, 32 ... 8192 B in turn in 16 GiB are 10.5 million pages, and
/// there is room for 8.3 million: nearly all pages from 4096 B on are parked. Such a request draws
/// on a bitmap tree instead of a queue. In addition, a chunk keeps its page size, so what smaller
/// sizes have taken is missing for the last one, and it gets nulls.

#include "warpheap/managers/ouroboros/memory_map.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

template <class Map>
class page_queues {
 public:
  using sizes = typename Map::sizes;

  WARPHEAP_DEVICE explicit page_queues(const Map& map) : map_(map) {}

  /// A new chunk's pages are enqueued, so its bitmap starts without free pages.
  WARPHEAP_HD static constexpr std::uint32_t used_at_first(std::uint32_t /*used*/,
                                                           std::uint32_t pages) {
    return pages;
  }

  /// Whether the class has memory besides the supply.
  WARPHEAP_DEVICE bool has_more(std::uint32_t cls) const { return map_.parked(cls).any(); }

  /// The page for which the leader was granted a unit; null for members after `granted`.
  WARPHEAP_DEVICE void* locate(const simt::group& members, std::uint32_t cls,
                               std::uint32_t granted) const {
    std::uint64_t index = 0;
    if (!map_.page_queue(cls).pop_granted(members, granted, index)) return nullptr;
    return map_.page(cls, chunk_of(index), page_of(index));
  }

  /// Keeps pages `used..pages-1` of a new chunk for others. Returns their number of units.
  WARPHEAP_DEVICE std::uint32_t keep(const simt::group& members, std::uint32_t cls,
                                     std::uint32_t chunk, std::uint32_t used,
                                     std::uint32_t pages) const {
    const std::uint32_t accepted =
        map_.page_queue(cls).push_run(members, index_of(chunk, used), pages - used);
    if (used + accepted < pages && members.is_leader()) {
      map_.table().free_range(chunk, used + accepted, pages);
      park(cls, chunk, pages - used - accepted);
      map_.note_move(cls);
    }
    return accepted;
  }

  /// Serves up to `wanted` members, from rank `first_rank` on, from a parked chunk, and enqueues
  /// its other pages. Returns how many members were served, and in `made` the units for others.
  WARPHEAP_DEVICE std::uint32_t unpark(const simt::group& members, std::uint32_t cls,
                                       std::uint32_t first_rank, std::uint32_t wanted,
                                       std::uint32_t& made, void*& block) const {
    std::uint32_t chunk = bitmap_tree::none;
    std::uint32_t free_pages = 0;
    if (members.is_leader() && has_more(cls)) {
      // From a random parked one on, so that groups that grow at once seldom want the same chunk:
      // from a random place among all chunks, most would meet at the first of their class.
      const std::uint32_t seen = map_.parked(cls).draw(simt::noise());
      chunk = map_.parked(cls).claim_first(seen == bitmap_tree::none ? 0 : seen / 64);
      if (chunk != bitmap_tree::none) free_pages = map_.table().get(chunk).free_pages();
    }
    chunk = members.broadcast(chunk);
    made = 0;
    if (chunk == bitmap_tree::none) return 0;
    free_pages = members.broadcast(free_pages);
    const std::uint32_t direct = wanted < free_pages ? wanted : free_pages;
    const auto queue = map_.page_queue(cls);
    const std::uint64_t first = queue.reserve(members, free_pages - direct, made);
    if (members.is_leader()) {
      // Frees may have added pages meanwhile; no other lane takes any.
      if (map_.table().take(chunk, direct + made).some_left) {
        map_.parked(cls).insert(chunk);
        map_.note_move(cls);
      }
    }
    const auto rank = static_cast<std::uint32_t>(members.rank());
    const auto size = static_cast<std::uint32_t>(members.size());
    const std::uint32_t words = sizes::words_of(cls);
    std::uint32_t handed = 0;
    for (std::uint32_t word = 0; handed < direct + made; word = word + 1 == words ? 0 : word + 1) {
      std::uint32_t bits = 0;
      if (members.is_leader()) {
        bits = map_.table().clear_bits(chunk, word, direct + made - handed);
      }
      bits = members.broadcast(bits);
      const auto count = static_cast<std::uint32_t>(popcount(bits));
      const auto page_at = [&](std::uint32_t unit) {
        return word * 32 +
               static_cast<std::uint32_t>(kth_set_bit(bits, static_cast<int>(unit - handed)));
      };
      const std::uint32_t mine = rank - first_rank;  // wraps around for members before
      if (mine >= handed && mine < handed + count && mine < direct) {
        block = map_.page(cls, chunk, page_at(mine));
      }
      for (std::uint32_t unit = handed + rank; unit < handed + count; unit += size) {
        if (unit >= direct) {
          queue.positions().put(first + (unit - direct), index_of(chunk, page_at(unit)));
        }
      }
      handed += count;
    }
    members.sync();
    return direct;
  }

  /// Other classes have nothing to offer: a chunk keeps its page size.
  WARPHEAP_DEVICE bool reclaim(std::uint32_t /*cls*/) const { return false; }

  WARPHEAP_DEVICE void put_back(std::uint32_t cls, std::uint32_t chunk, std::uint32_t page) const {
    const simt::group peers = simt::coalesced(map_.chunk(0)).match(cls);
    if (map_.page_queue(cls).push(peers, index_of(chunk, page))) return;
    const simt::group same = simt::coalesced(map_.chunk(0)).match(chunk);
    map_.table().free_page(chunk, page);
    same.sync();
    if (same.is_leader()) park(cls, chunk, static_cast<std::uint32_t>(same.size()));
    same.sync();  // no lane asks for a page before the one that it freed is counted
    // A lane that misses the units which this one takes next sees what is parked: pairs with the
    // acquire with which it asks for units.
    simt::fence(simt::order::release);
  }

  // Only while no lane allocates.

  /// Invariants of the entry at `position`; entries are free pages that no chunk counts.
  WARPHEAP_DEVICE void inspect_entry(std::uint32_t cls, std::uint64_t position,
                                     inspection& findings) const {
    std::uint64_t index = 0;
    const bool there = map_.queue(cls).peek(position, index);
    const std::uint32_t chunk = chunk_of(index);
    const bool sound =
        there && chunk < map_.chunk_count() && map_.table().get(chunk).kind() == chunk_kind::data &&
        map_.table().get(chunk).cls() == cls && page_of(index) >> sizes::pages_log2(cls) == 0 &&
        !map_.table().page_is_free(chunk, page_of(index));
    findings.expect(sound, 5, position);
    // One block fewer than the chunks counted.
    findings.in_use(~std::uint64_t{0}, ~(std::uint64_t{1} << sizes::page_log2(cls)) + 1);
  }

  /// The units that the class must have, given the free pages on its chunks and the length of its
  /// queue.
  WARPHEAP_DEVICE static std::uint64_t units_expected(std::uint64_t /*free_pages*/,
                                                      std::uint64_t entries) {
    return entries;
  }
  /// The entries that the class must have, given how many of its chunks have free pages.
  WARPHEAP_DEVICE static std::uint64_t entries_expected(std::uint64_t /*with_free*/,
                                                        std::uint64_t entries) {
    return entries;
  }

 private:
  WARPHEAP_HD static std::uint64_t index_of(std::uint32_t chunk, std::uint32_t page) {
    return (std::uint64_t{chunk} << sizes::most_pages_log2) + page;
  }
  WARPHEAP_HD static std::uint32_t chunk_of(std::uint64_t index) {
    return static_cast<std::uint32_t>(index >> sizes::most_pages_log2);
  }
  WARPHEAP_HD static std::uint32_t page_of(std::uint64_t index) {
    return static_cast<std::uint32_t>(index) & low_bits<std::uint32_t>(sizes::most_pages_log2);
  }

  /// Counts `pages` pages, already marked, as parked.
  WARPHEAP_DEVICE void park(std::uint32_t cls, std::uint32_t chunk, std::uint32_t pages) const {
    if (map_.table().add(chunk, pages) == 0) map_.parked(cls).insert(chunk);
  }

  const Map& map_;
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
