// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// BulkAllocator: I. Gelado, M. Garland, "Throughput-oriented GPU memory allocation", PPoPP 2019,
/// 10.1145/3293883.3295727.
///
/// Algorithm: two allocators on bulk semaphores, which hand out units and tell a lane when it is
/// its turn to make a batch of more (sync/bulk_semaphore.hpp). TBuddy serves requests of more than
/// 1 KiB: a static binary tree of buddies over 4 KiB pages, with a semaphore for each order, which
/// grows by splitting a node of the order above. UAlloc serves smaller ones, rounded up to a power
/// of two. Each multiprocessor has an arena, with a list of bins and a semaphore for each size, and
/// a list of chunks with a semaphore of bins. A size grows by a bin from a chunk, and an arena by a
/// chunk of 512 KiB from the tree. The lanes of a warp that want one size call the semaphore as
/// one, and take the number of their blocks from a bin's count together; each then claims a bit of
/// the bin's map. free decides by the address: blocks of UAlloc, and only those, do not start where
/// a page does. A bin and a chunk whose items are all free go back to where they came from.
///
/// Layout:
///
///     [ words of reclaiming | slabs that are noted | orders of the tree | their bitmap trees |
///       lists of the arenas | states of pages | links | page 0 | page 1 | ... ]
///
///     a chunk:       [ special bin 0 | ... | special bin 3 | regular bin 0 | ... | 123 ]
///     a special bin: [ header | tail 31 s | tail 31 s + 1 | ... | tail 31 s + 30 ]
///     a regular bin: [ header | blocks ... ], and its blocks go on in its tail
///
/// The header of a bin is its map of blocks, that of special bin 0 the chunk's map of bins. Headers
/// and tails have 128 bytes, so a bin of 16-byte blocks has 248 behind its header and 8 in its
/// tail, and one of 1 KiB blocks has three and uses no tail.
///
/// Invariants, while no lane allocates (place):
/// I1 each page is part of exactly one available node, large block or chunk (page);
/// I2 the semaphore of an order has as many units as there are available nodes, and no lane is at
///    work (order);
/// I3 two buddies that are both available are noted as a pair (parent);
/// I4 the words of the bitmap trees fit (word);
/// I5 the semaphore of a list has as many units as its slabs have free items, no lane is at work,
///    and the list is not locked (list);
/// I6 the count of a slab is the number of clear bits in its map, and bits that stand for no item
///    are set (page);
/// I7 a list has just the slabs that belong to it and have free items, and its links agree (list or
///    page);
/// I8 a regular bin is taken in its chunk's map exactly if it is a bin of the same arena (page);
/// I9 no lane reclaims (0);
/// I10 a slab is noted if its items are all free, or if its state says that it is (page).
///
/// Steady load: where memory ends, a request looks at each order, and asks only if one has or
/// expects a node; lanes of a warp that want one order do so as one. If there is nothing, and a
/// slab or pair is noted, the lanes of one group reclaim what is noted, while all others wait and
/// look less and less often; a request tries again after that, up to four times. In the survey's
/// case, a launch with 64 B took 657 ms, one with sizes from 16 B to 4 KiB 749 ms (powers of two)
/// and 558 ms (uniform), and one with 1 to 32 KiB, whose blocks all come from the tree, 1.46 s.
/// When each lane asked for itself and each request tried 16 times, the second took 1.82 s, and
/// three of the last were not finished in 30 s (docs/decisions/0053).
///
/// Blocks of the tree: lanes of a warp that call together ask each order once for all of them, and
/// split together. free merges buddies at once, and what the lanes of a warp free together is
/// signalled, borrowed and merged together. So where large nodes are free, each warp climbs to the
/// same few of them, and its requests wait for each other there.
///
/// A churn of 262,144 lanes with sizes from 16 B to 4 KiB takes 4.8 s a launch, 35 times as long as
/// with sizes up to 256 B: three sizes in four are above 1 KiB, so each launch asks the tree for 12
/// million blocks, and what is freed merges up to the top before it is split again.
///
/// Progress: blocking. The only locks are those of lists, held while some links change. Lanes wait
/// for growth that others have promised, in one direction only (see `obtain` and `take`): a promise
/// is kept or withdrawn, and waits for a withdrawn one are counted. Lanes that claim nodes or items
/// hold units that stand for them. Before null, a group reclaims, or waits for the one that does,
/// and tries again while anything is reclaimed, at most `most_attempts` times. Members of a group
/// wait for their leader, which is at one of these.
///
/// Null: at some moments of the call, neither the tree nor an arena had, or expected, what was
/// needed, and each of a bounded number of attempts was in vain. Not exact: memory that others are
/// about to split, merge or give back may be missed at those moments.
///
/// Deviations from the paper, and why:
/// - counts and links of bins and chunks are in a table beside the pages. A lane that comes late
///   meets no user data there, so lists need neither read-copy-update, with its delegated barriers,
///   nor the collective mutex: a list has a lock, for changes only, and lanes of a warp draw as
///   one;
/// - the available nodes of an order are bits of a bitmap tree, which are taken by one atomic; the
///   paper has a state in each node, busy, partial or available, and locks node and parent;
/// - blocks have at least 16 bytes, as the contract requires, not 8;
/// - semaphores are those of sync/, without compare-exchange: one atomic per request;
/// - lanes of a warp that want nodes of one order ask each semaphore for all of them at once, climb
///   from order to order as one, and split for all (climb.hpp); those that free nodes of one order
///   signal and merge as one. In the paper, only requests for small blocks are combined;
/// - where units of a pair are on their way to others, the lane that merges looks four times before
///   it leaves the pair: mostly one of the two is taken then;
/// - a chunk of 512 KiB has 128 bins, of which four are special; the paper names two;
/// - a bin or chunk that is wholly free is kept if its list would be left with less than a slab's
///   worth, else a lane that takes and frees one block would make a chunk each time;
/// - when memory runs out, a lane takes from other arenas, slabs that were kept are given back, and
///   buddies that could not be merged are merged; the paper returns null with them;
/// - a heap has an arena for each four chunks at most, so that small heaps are not pinned.

#include "warpheap/core/assert.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/bulk_allocator/arenas.hpp"
#include "warpheap/managers/bulk_allocator/geometry.hpp"
#include "warpheap/managers/bulk_allocator/inspection.hpp"
#include "warpheap/managers/bulk_allocator/publication.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

using bulk_parts::bulk_allocator_config;

template <bulk_allocator_config Config = bulk_allocator_config{}>
class bulk_allocator {
  using sizes = bulk_parts::geometry<Config>;
  using arenas_type = bulk_parts::arenas<Config>;
  using share = typename arenas_type::share;

 public:
  using options = no_options;

  static constexpr capabilities about{
      .name = "bulk_allocator",
      .description = "bulk semaphores, a buddy tree of pages, and arenas of bins for small sizes",
      .folder = "bulk_allocator",
      .published = bulk_parts::published,
      .deviations =
          {
              "Counts and links of bins stand in a table, so lists need no read-copy-update.",
              "Available nodes are bits of a bitmap tree; no node is locked.",
              "Lanes of a warp take, split, free and merge nodes of one order as one.",
              "The smallest block has 16 bytes.",
              "Four bins of a chunk of 128 hold the tails; the paper names two.",
              "The last free bin of a list and chunk of an arena are kept until memory runs out.",
              "When memory runs out, other arenas serve, and free slabs and buddies are reclaimed.",
              "A heap has an arena for each four chunks at most.",
          },
  };

  bulk_allocator(const region& memory, const simt::device_properties& machine,
                 const options& /*none*/) {
    const std::size_t room = memory.bytes >> sizes::page_shift;
    const auto most = static_cast<std::uint32_t>(
        room < bulk_parts::buddy_tree::most_pages ? room : bulk_parts::buddy_tree::most_pages);
    lay_out_most(memory, about.name, sizes::chunk_pages,
                 most < sizes::chunk_pages ? sizes::chunk_pages : most,
                 [&](region_cursor& cursor, std::uint32_t pages) {
                   arenas_.lay_out(cursor, pages, machine.multiprocessors);
                 });
  }

  /// The largest node of the empty heap.
  WARPHEAP_HD std::size_t largest_block() const {
    return std::size_t{1} << (arenas_.buddy().top() + sizes::page_shift);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    arenas_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    return bytes <= Config.largest_small ? malloc_small(sizes::class_of(bytes))
                                         : malloc_large(sizes::order_of(bytes));
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    const auto offset =
        static_cast<std::uint64_t>(static_cast<std::byte*>(block) - arenas_.table().heap());
    if (offset >> sizes::page_shift >= pages()) return;  // not of this heap
    if (offset % Config.page_bytes == 0) {
      free_large(static_cast<std::uint32_t>(offset >> sizes::page_shift));
    } else {
      free_small(sizes::place_of(offset));
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    bulk_parts::inspector<Config>(arenas_, findings).run(rank, count);
  }

  /// Pages of the heap, for tests.
  WARPHEAP_HD std::uint32_t pages() const { return arenas_.buddy().pages(); }

 private:
  /// Each attempt except the first follows a reclaim. The third one at the latest follows one that
  /// has begun after the first: more only follow what others free meanwhile.
  static constexpr int most_attempts = 4;

  WARPHEAP_DEVICE void* address(std::uint64_t offset) const {
    return arenas_.table().heap() + offset;
  }
  WARPHEAP_DEVICE void* malloc_large(int order) const {
    void* block = nullptr;
    // Lanes that are served leave, so each turn forms its groups again. Each turn serves a lane of
    // the group or ends it.
    while (node_turn(simt::coalesced(arenas_.table().heap()).match(order), order, block)) {
    }
    return block;
  }

  /// True if the caller must try again.
  WARPHEAP_DEVICE bool node_turn(const simt::group& members, int order, void*& block) const {
    std::uint32_t node = bulk_parts::buddy_tree::none;
    std::uint32_t nodes = 0;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const std::uint32_t seen = members.is_leader() ? arenas_.reclaims().count() : 0;
      nodes = arenas_.take_nodes(members, order, node);
      if (nodes != 0 || !arenas_.reclaim(members, seen)) break;
    }
    if (static_cast<std::uint32_t>(members.rank()) >= nodes) return nodes != 0;
    const std::uint32_t page = node << order;
    arenas_.table().set_state(page, bulk_parts::page_state::large_block(order));
    block = address(std::uint64_t{page} << sizes::page_shift);
    return false;
  }

  WARPHEAP_DEVICE void free_large(std::uint32_t page) const {
    const bulk_parts::page_state state = arenas_.table().state(page);
    if (!state.is_large_block()) return;  // not a live block
    arenas_.table().set_state(page, bulk_parts::page_state::nothing());
    const int order = state.order();
    arenas_.give_nodes(simt::coalesced(arenas_.table().heap()).match(order), order, page >> order);
  }

  WARPHEAP_DEVICE void* malloc_small(std::uint32_t cls) const {
    const std::uint32_t arena = simt::sm_id() % arenas_.count();
    void* block = nullptr;
    // As above.
    while (turn(simt::coalesced(arenas_.table().heap()).match(arenas_type::list_of(arena, cls)),
                arena, cls, block)) {
    }
    return block;
  }

  /// True if the caller must try again.
  WARPHEAP_DEVICE bool turn(const simt::group& members, std::uint32_t arena, std::uint32_t cls,
                            void*& block) const {
    // A share in one word: the bin, and how many of its blocks.
    std::uint64_t word = 0;
    if (members.is_leader()) {
      const share got = take(arena, cls, static_cast<std::uint32_t>(members.size()));
      word = std::uint64_t{got.bin} << 32 | got.blocks << 1 | (got.fresh ? 1u : 0u);
    }
    word = members.broadcast(word);
    members.sync();  // what the leader has acquired comes before what the members do
    const auto bin = static_cast<std::uint32_t>(word >> 32);
    const std::uint32_t blocks = static_cast<std::uint32_t>(word) >> 1;
    const auto rank = static_cast<std::uint32_t>(members.rank());
    if (rank >= blocks) return blocks != 0;
    const bool fresh = (word & 1u) != 0;
    const std::uint32_t index =
        fresh ? rank
              : arenas_.table().claim(bin, sizes::blocks(cls),
                                      static_cast<std::uint32_t>(simt::noise() >> 32));
    block = address(sizes::block_start(bin, cls, index));
    return false;
  }

  WARPHEAP_DEVICE share take(std::uint32_t arena, std::uint32_t cls, std::uint32_t want) const {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const std::uint32_t seen = arenas_.reclaims().count();
      const share got = arenas_.take(arena, cls, want);
      if (got.blocks != 0) return got;
      if (!arenas_.reclaim(bulk_parts::alone(), seen)) break;
    }
    return {};
  }

  WARPHEAP_DEVICE void free_small(const bulk_parts::small_place& place) const {
    const bulk_parts::page_state state = arenas_.table().state(place.bin);
    if (!state.is_slab()) return;  // not a live block
    const std::uint32_t cls = state.list() % arenas_type::lists_each;
    arenas_.table().unclaim(place.bin, sizes::index_of(place, cls));
    const simt::group same = simt::coalesced(arenas_.table().heap()).match(place.bin);
    same.sync();  // what the members cleared comes before what the leader releases
    if (same.is_leader()) arenas_.give(place.bin, static_cast<std::uint32_t>(same.size()));
  }

  arenas_type arenas_;
};

WARPHEAP_END_NAMESPACE
