// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Ouroboros: M. Winter, D. Mlakar, M. Parger, M. Steinberger, "Ouroboros: Virtualized Queues for
/// Dynamic Memory Management on GPUs", ICS 2020, 10.1145/3392717.3392742. All six variants: the
/// queue kind (S, VA, VL) and the item kind (P, C) are parameters of one implementation.
///
/// Algorithm: memory is cut into chunks, and a chunk into pages of one size, a power of two. Each
/// size has a queue of free pages (P) or of chunks with free pages (C), and a bulk semaphore that
/// counts free pages. malloc asks the semaphore for the pages of all lanes of a warp that want one
/// size. What it grants comes from the queue. For the rest, the semaphore tells the lanes either
/// that it is their turn to cut new chunks, of which they keep what they need, or to wait for the
/// lanes whose turn it is. free puts pages into the queue (P), or marks them in their chunk's
/// bitmap and puts the chunk into the queue if it was not there (C). The entries of a virtualised
/// queue lie in chunks of the same heap. Instances for larger sizes are stacked on the first.
///
/// Layout:
///
///     [ classes | supply: counters, reuse queue, marks | states | bitmaps | links |
///       queue arrays (S: slots, VA: chunk pointers, VL: fingers) | chunk 0 | chunk 1 | ... ]
///
/// Invariants, while no lane allocates (place):
/// I1 a data chunk counts as many free pages as its bitmap shows (chunk);
/// I2 the other base chunks of a run are its tails, and free chunks have no state (chunk);
/// I3 P: the room of a static queue, or of all virtualised ones together, and what their positions
///    bind add up to the whole (class);
/// I4 the semaphore of a class has the free pages of its queue, and expects none (class);
/// I5 entries of queues are pages of their class that are not parked, or chunks with free pages
///    (position);
/// I6 a queue of chunks has one entry for each with free pages, and counts those all free (class);
/// I7 the units left for data, data chunks, and queue chunks make up all chunks (left).
///
/// Progress: malloc and free loop only if another lane has taken, freed or made something since
/// they looked. They wait for values of positions that others drew earlier, and for growth that
/// others have promised; lanes that have drawn or promised finish without waiting for later ones
/// (see the queues, the semaphore, chunk_queues.hpp). A wait for growth is given up after a bounded
/// time if it was in vain.
/// What a lane takes and may give back is borrowed: units of the supply until it has found a run,
/// and units of a class while it looks for a chunk to reclaim. Borrowed units stay expected, and
/// lanes that need them try again instead of counting them as used. A lane that has borrowed does
/// not wait for another one that has, and borrows only after it has seen enough for itself.
///
/// Null: no chunk was left, and afterwards the semaphore had nothing and expected nothing, and
/// nothing went from there to the supply between the two looks (see `note_move`); or 64 attempts to
/// take a chunk failed because others held it, so attempts end even if others never give it back.
///
/// Steady load: lanes of a size meet at one semaphore and one queue, and wait for growth that
/// others cannot deliver. C also borrows pages of other sizes and takes entries of their queues
/// until it finds a free chunk, up to 64 times with pauses. P took up to 156 ms (`s_p`), 117 ms
/// (`vl_p`) and 75 ms (`va_p`) with 64 B, as 25 million requests pass that queue, at 2 to 6 ns; and
/// 111 ms (`s_p`) with 1 to 32 KiB. C (`s_c`, `va_c`, `vl_c`) took 321 ms, 409 ms, 408 ms (powers),
/// 175 ms, 424 ms, 399 ms (uniform to 4 KiB), and 1.63 s, 1.30 s, 1.32 s (1 to 32 KiB).
///
/// Deviations from the paper, and why:
/// - a lane that grows keeps its warp's pages and enqueues only the surplus, all at once; the
///   paper's enqueues all pages and then queues up with the others;
/// - queues hold 64-bit page indices, and chunk indices of up to 27 bits: heaps up to a terabyte,
///   and to half of one where the semaphore counts every page (C);
/// - growth that finds no memory is undone, and malloc returns null; the paper's continues with a
///   chunk outside the heap;
/// - chunk states and bitmaps are in tables, so that a page is aligned to its size, and a late
///   reader never reads user data as a header;
/// - a chunk's entry is taken out before its pages are claimed and put back afterwards, instead of
///   a walk along the queue: the paper's chunk variants are slow because all lanes meet at one
///   front;
/// - C: a chunk that becomes wholly free before it is queued returns to the supply at once; one in
///   a queue stays with its size until another size finds no memory, and is then taken out;
/// - P: pages for which a queue has no room are parked in their chunk's bitmap, so free never fails
///   and no queue has to be large enough for every page. As in the paper, a chunk keeps its size;
/// - the size of the heap fixes the number of chunks for data and for queues (C: three thousandths,
///   P: a 256th, and three chunks per class), so neither starves the other; any chunk may be
///   either;
/// - stacked instances take runs of base chunks from the same supply, and give them back to it;
/// - pointers outside the heap are ignored instead of passed on to another allocator; freeing any
///   other address that is not that of a live block is an error of the caller.

#include "warpheap/managers/ouroboros/chunk_queues.hpp"
#include "warpheap/managers/ouroboros/inspection.hpp"
#include "warpheap/managers/ouroboros/memory_map.hpp"
#include "warpheap/managers/ouroboros/page_queues.hpp"
#include "warpheap/managers/ouroboros/publication.hpp"
#include "warpheap/managers/ouroboros/request.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

using ouroboros_parts::item_kind;
using ouroboros_parts::ouroboros_config;
using ouroboros_parts::queue_kind;

template <ouroboros_config Config = ouroboros_config{}>
class ouroboros {
  using map_type = ouroboros_parts::memory_map<Config>;
  using sizes = ouroboros_parts::geometry<Config>;
  static constexpr bool pages = Config.item == item_kind::pages;
  using queues_type = std::conditional_t<pages, ouroboros_parts::page_queues<map_type>,
                                         ouroboros_parts::chunk_queues<map_type>>;
  using request = ouroboros_parts::request;
  static_assert(sizes::classes <= request::most_classes);

  static constexpr const char* name() {
    switch (Config.queue) {
      case queue_kind::static_array:
        return pages ? "ouroboros_s_p" : "ouroboros_s_c";
      case queue_kind::virtual_array:
        return pages ? "ouroboros_va_p" : "ouroboros_va_c";
      case queue_kind::virtual_list:
        break;
    }
    return pages ? "ouroboros_vl_p" : "ouroboros_vl_c";
  }

  static constexpr const char* description() {
    switch (Config.queue) {
      case queue_kind::static_array:
        return pages ? "queues of pages in static arrays" : "queues of chunks in static arrays";
      case queue_kind::virtual_array:
        return pages ? "queues of pages in chunks of the heap that an array points to"
                     : "queues of chunks in chunks of the heap that an array points to";
      case queue_kind::virtual_list:
        break;
    }
    return pages ? "queues of pages in linked chunks of the heap"
                 : "queues of chunks in linked chunks of the heap";
  }

 public:
  using options = no_options;

  static constexpr capabilities about{
      .name = name(),
      .description = description(),
      .folder = "ouroboros",
      .published = ouroboros_parts::published,
      .deviations =
          {
              "A lane that grows keeps its warp's pages and enqueues only the surplus.",
              "Growth that finds no memory is taken back, and malloc returns null.",
              "Chunk states and bitmaps stand in tables, so pages are aligned to their size.",
              pages ? "Pages that a queue has no room for are parked in their chunk's bitmap."
                    : "A chunk's entry leaves the queue while its pages are claimed.",
              pages ? nullptr
                    : "A wholly free chunk can serve another size when that finds no memory.",
          },
      .largest_block = sizes::largest_page,
      // Freed pages of P serve only requests of their own size class.
      .reuse = pages ? memory_reuse::partial : memory_reuse::all,
  };

  ouroboros(const region& memory, const simt::device_properties& /*machine*/,
            const options& /*none*/)
      : map_(memory, about.name) {}

  /// The smallest heap has room for it.
  WARPHEAP_HD std::size_t largest_block() const { return sizes::largest_page; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    map_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    request wanted(sizes::class_of(bytes));
    void* block = nullptr;
    // Lanes that have been served leave, so each turn forms new groups.
    while (turn(simt::coalesced(map_.chunk(0)).match(wanted.cls()), wanted, block)) {
    }
    return block;
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    const std::uint64_t offset = map_.offset_of(block);
    if (offset >> sizes::chunk_log2 >= map_.chunk_count()) return;  // not of this heap
    auto chunk = static_cast<std::uint32_t>(offset >> sizes::chunk_log2);
    // Relaxed: the lane that frees a page got to know it after its chunk was formed.
    ouroboros_parts::chunk_state state = map_.table().get(chunk);
    if (state.kind() == ouroboros_parts::chunk_kind::tail) {
      chunk -= state.offset();
      state = map_.table().get(chunk);
    }
    const std::uint64_t start = std::uint64_t{chunk} << sizes::chunk_log2;
    const std::uint32_t cls = state.cls();
    queues_type(map_).put_back(cls, chunk,
                               static_cast<std::uint32_t>(offset - start) >> sizes::page_log2(cls));
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    ouroboros_parts::inspector<map_type, queues_type>(map_, findings).run(rank, count);
  }

  /// What the region holds, for tests.
  const map_type& map() const { return map_; }

 private:
  /// What a group does in one turn: its first `granted` members get pages from the queue; at most
  /// `kept` of the next ones get pages of `batches` chunks that the group takes.
  struct plan {
    std::uint32_t granted = 0;
    std::uint32_t kept = 0;
    std::uint32_t batches = 0;
    /// There is no memory for the others.
    bool out = false;
    /// The group has waited in vain for others to grow.
    bool in_vain = false;

    WARPHEAP_HD std::uint32_t encode() const {
      return granted | kept << 8 | batches << 16 | (out ? 1u << 31 : 0u) |
             (in_vain ? 1u << 30 : 0u);
    }
    WARPHEAP_HD static plan decode(std::uint32_t word) {
      return {word & 255u, word >> 8 & 255u, word >> 16 & 255u, word >> 31 != 0,
              (word >> 30 & 1u) != 0};
    }
  };

  /// Whether there is memory for a chunk, or others have borrowed some and may give it back. Looks
  /// at the supply last: chunks that leave a queue of another class are in the supply before they
  /// are missing from the queue. Acquire: a lane that misses what others have taken from the supply
  /// for this class sees afterwards that they make units of it.
  WARPHEAP_DEVICE bool can_grow(std::uint32_t cls) const {
    const std::int64_t span = std::int64_t{1} << sizes::span_log2(cls);
    const auto in_supply = [&] {
      return map_.supply().left().read(simt::order::acquire).expected() >= span;
    };
    return in_supply() || queues_type(map_).has_more(cls) || in_supply();
  }

  /// For a lane that found no chunk: whether another attempt may find one. An attempt fails only if
  /// another lane has taken memory, or holds borrowed memory and gives it back without waiting for
  /// any lane; and attempts are bounded. If the lane has searched, and what is left are chunks that
  /// form no run, there is no hope, unless a chunk came after the search began. A lane that found
  /// nothing to borrow has not searched. Looks in the same order as `decide`.
  /// \param moves the value when the search began
  WARPHEAP_DEVICE bool may_grow_yet(std::uint32_t cls, std::uint64_t moves, bool searched) const {
    const std::int64_t span = std::int64_t{1} << sizes::span_log2(cls);
    const auto coming = [&] {
      const auto left = map_.supply().left().read(simt::order::acquire);
      return left.expected() >= span && (!searched || left.count < span);
    };
    return coming() || queues_type(map_).has_more(cls) || coming() ||
           map_.units(cls).read(simt::order::acquire).expected() > 0 || map_.moves(cls) != moves;
  }

  /// Asks the semaphore for `wanted` pages. Called by the leader; may wait for other groups.
  WARPHEAP_DEVICE plan decide(std::uint32_t cls, std::uint32_t wanted, bool in_vain) const {
    const sync::bulk_semaphore units = map_.units(cls);
    const auto asked = units.ask(wanted, 1u << sizes::pages_log2(cls), in_vain);
    plan result{asked.granted};
    if (asked.missing == 0) return result;
    const std::uint64_t moves = map_.moves(cls);
    const bool growing = can_grow(cls);
    if (growing && asked.batches != 0) {
      result.batches = asked.batches;
      result.kept = units.promise(asked, 1u << sizes::pages_log2(cls));
    } else if (asked.granted == 0 && (growing || asked.covered)) {
      result.granted = units.await(asked);
      result.in_vain = result.granted == 0;
    } else {
      // In this order: the heap was exhausted, afterwards nothing was expected either, and nothing
      // has gone the other way meanwhile.
      result.out = !units.decline(asked) && !growing && map_.moves(cls) == moves;
    }
    return result;
  }

  /// True if the caller must ask again.
  WARPHEAP_DEVICE bool turn(const simt::group& members, request& wanted, void*& block) const {
    const std::uint32_t cls = wanted.cls();
    std::uint32_t word = 0;
    members.sync();  // what members have freed comes before what the leader decides for them
    if (members.is_leader()) {
      word = decide(cls, static_cast<std::uint32_t>(members.size()), wanted.in_vain()).encode();
    }
    plan mine = plan::decode(members.broadcast(word));
    wanted.set_in_vain(mine.in_vain);
    std::uint32_t served = 0;
    // Growth first: others may wait for it.
    if (mine.batches != 0) served = grow(members, wanted, mine, block);
    if (mine.granted != 0) {
      void* const found = queues_type(map_).locate(members, cls, mine.granted);
      if (found != nullptr) block = found;
    }
    const auto rank = static_cast<std::uint32_t>(members.rank());
    return rank >= mine.granted + served && !mine.out;
  }

  /// Takes chunks, hands their first pages to the members after the granted ones, and keeps the
  /// other pages for all lanes. Returns how many members were served; sets `mine.out` if there is
  /// no memory.
  WARPHEAP_DEVICE std::uint32_t grow(const simt::group& members, request& wanted, plan& mine,
                                     void*& block) const {
    const std::uint32_t cls = simt::as_needed(wanted.cls());
    const sync::bulk_semaphore units = map_.units(cls);
    const queues_type queues(map_);
    const int log2 = sizes::pages_log2(cls);
    const std::uint32_t promised = (mine.batches << log2) - mine.kept;
    std::uint64_t moves = 0;
    if (members.is_leader()) moves = map_.moves(cls);
    std::uint32_t made = 0;
    std::uint32_t served = queues.unpark(members, cls, mine.granted, mine.kept, made, block);
    if (served == 0) {
      std::uint32_t chunk = 0;
      simt::lane_mask holders = take_chunks(members, cls, mine.batches, false, chunk);
      bool reclaimed = false;
      if (holders.empty()) {
        if (members.is_leader()) reclaimed = queues.reclaim(cls);
        reclaimed = members.any(reclaimed);
        if (!reclaimed && sizes::span_log2(cls) != 0) {
          holders = take_chunks(members, cls, mine.batches, true, chunk);
        }
      }
      if (!holders.empty()) {
        served = cut(members, cls, mine, holders, chunk, made, block);
      } else if (!reclaimed) {
        bool hope = false;
        if (members.is_leader()) {
          units.deliver(promised, 0);
          hope = may_grow_yet(cls, moves, chunk == ouroboros_parts::chunk_supply::none);
          if (hope) simt::backoff(wanted.pause());
        }
        wanted.lose();
        mine.out = !members.any(hope) || !wanted.may_lose();
        return 0;
      }
    }
    if (members.is_leader()) units.deliver(promised, made);
    return served;
  }

  /// Takes up to `wanted` chunks for data, one for each member in the result. In the leader,
  /// `chunk` is `none` if it has searched for a run in vain.
  WARPHEAP_DEVICE simt::lane_mask take_chunks(const simt::group& members, std::uint32_t cls,
                                              std::uint32_t wanted, bool thorough,
                                              std::uint32_t& chunk) const {
    const auto& supply = map_.supply();
    const int span_log2 = sizes::span_log2(cls);
    // Borrowed, because chunks that form no run go back. First a look, so that lanes that cannot be
    // served do not make others wait.
    std::uint32_t borrowed = 0;
    if (members.is_leader() && supply.left().read().count >= std::int64_t{1} << span_log2) {
      borrowed = supply.left().borrow_up_to(wanted << span_log2);
    }
    const std::uint32_t allowed = members.broadcast(borrowed >> span_log2);
    bool holds = static_cast<std::uint32_t>(members.rank()) < allowed;
    chunk = 0;
    if (holds && span_log2 == 0) {
      chunk = supply.take();
    } else if (holds) {
      chunk = supply.take_run(1u << span_log2, thorough);
      holds = chunk != ouroboros_parts::chunk_supply::none;
    }
    const simt::lane_mask holders = members.ballot(holds);
    if (borrowed != 0) {
      const auto used = static_cast<std::uint32_t>(holders.count()) << span_log2;
      supply.left().deliver(borrowed, borrowed - used);
    }
    return holders;
  }

  /// Cuts the chunks of `holders` into pages.
  WARPHEAP_DEVICE std::uint32_t cut(const simt::group& members, std::uint32_t cls, const plan& mine,
                                    simt::lane_mask holders, std::uint32_t chunk,
                                    std::uint32_t& made, void*& block) const {
    const int log2 = sizes::pages_log2(cls);
    const std::uint32_t pages_each = 1u << log2;
    const auto got = static_cast<std::uint32_t>(holders.count());
    const std::uint32_t all = got << log2;
    const std::uint32_t served = mine.kept < all ? mine.kept : all;
    // Only the last chunk has pages left.
    const std::uint32_t used = served - ((got - 1) << log2);
    const int self = simt::lane_id();
    if (holders.contains(self)) {
      const bool last = static_cast<std::uint32_t>(holders.below(self).count()) + 1 == got;
      map_.table().form(chunk, cls, 1u << sizes::span_log2(cls),
                        queues_type::used_at_first(last ? used : pages_each, pages_each),
                        pages_each);
    }
    members.sync();
    if (used < pages_each) {
      const std::uint32_t last = members.shuffle(chunk, holders.nth(static_cast<int>(got) - 1));
      made = queues_type(map_).keep(members, cls, last, used, pages_each);
    }
    const std::uint32_t unit = static_cast<std::uint32_t>(members.rank()) - mine.granted;
    const bool in = unit < served;  // wraps around for members that were granted a page
    const std::uint32_t from =
        members.shuffle(chunk, in ? holders.nth(static_cast<int>(unit >> log2)) : self);
    if (in) block = map_.page(cls, from, unit & (pages_each - 1));
    return served;
  }

  map_type map_;
};

WARPHEAP_END_NAMESPACE
