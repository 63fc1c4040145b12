// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How DynaSOAr's blocks get and lose their types, and slots their owners; see dynasoar.hpp for the
/// publication.
///
/// A block is free, or has up to 64 slots of one type. Its word of free slots has a bit for each.
/// Three kinds of bitmap trees say where to look:
///
/// - free: the blocks without a type. The lane that removes a block from it may give it a type;
/// - allocated[T]: the blocks of type T. The lane that removes a block from it, and no other, may
///   make it free: so its type stays while that lane compares and exchanges the word of free slots
///   from "all" to "none", and only an empty block is ever taken away;
/// - active[T]: the blocks of type T with free slots. A hint: a lane that takes from such a block
///   looks at its type once it has slots, which keep the type from changing.
///
/// How active[T] is kept correct: a lane that has changed a word of free slots between none and
/// some inserts or removes the block, looks at the word and the type again, and repeats that until
/// what it did agrees with what it saw. So no lane waits for the one that made the change before.
/// The look is a read-modify-write: a lane that frees into a block which had free slots loads the
/// bit of active[T] after it, and either that lane sees that the bit was removed, and restores it
/// itself, or the look of the one that removed it sees the freed slot.
///
/// How a lane that finds nothing knows that nothing is free: every change of the trees of free and
/// of active blocks is part of a move that is announced in `moves` {ended:32 | in progress:32}
/// before it hides anything, until all can be found again. While no move is in progress the trees'
/// hints are right, so one walk down each tells whether it is empty. What two walks found counts if
/// no move was in progress before them and `moves` is the same after them. So null means: at one
/// time there was neither a free block nor a slot of the type whose destruction had returned. (A
/// lane that took slots from a block whose type had just changed holds them until it has seen the
/// type. They are not free during that time.) Only when others' moves spoil `patience` searches
/// does a lane give up without knowing.
///
/// Progress: lock-free, and no lane waits for a particular other one. `settle` repeats when another
/// lane has changed the block, `close` when another has taken a slot and given it back, `take_from`
/// when others have taken all that it wanted, `take` when it lost to others or when they are in the
/// middle of a move, which never waits.
///
/// Memory orders: words of free slots and trees change by acq_rel, so what the last owner of a slot
/// did comes before what the next one does. This also holds if its block changed its type, because
/// the compare-exchange of `close` acquires what every freeing lane released, and the insertion
/// into free and the removal from it pass that on. The type is written before the word of free
/// slots is released, so a lane that has acquired a free slot sees its type.

#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/dynasoar/table.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// \tparam Shape as for `dynasoar_table`
template <class Shape>
class dynasoar_blocks {
 public:
  using table = dynasoar_table<Shape>;
  static constexpr std::uint32_t none = bitmap_tree::none;

  /// A slot of a block, or none.
  struct place {
    std::uint32_t block = none;
    std::uint32_t slot = 0;
  };

  /// As many blocks as a region has room for. \param take_more(cursor, count) takes what the
  /// manager keeps beside `count` of them \throws as `lay_out_most`
  template <class TakeMore>
  static dynasoar_blocks lay_out(const region& memory, const char* owner,
                                 const TakeMore& take_more) {
    const std::size_t most =
        std::clamp<std::size_t>(memory.bytes / Shape::block_bytes, 1, table::most_blocks);
    dynasoar_blocks blocks;
    lay_out_most(memory, owner, 1u, static_cast<std::uint32_t>(most),
                 [&](region_cursor& cursor, std::uint32_t count) {
                   blocks = dynasoar_blocks(table(cursor, count));
                   take_more(cursor, count);
                 });
    return blocks;
  }

  dynasoar_blocks() = default;
  WARPHEAP_HD explicit dynasoar_blocks(const table& blocks) : table_(blocks) {}

  WARPHEAP_HD const table& state() const { return table_; }

  /// A slot of type `type`; none if nothing is free. Lanes that call together with the same type
  /// take their slots together, by one atomic if a block has enough of them.
  WARPHEAP_DEVICE place allocate(std::uint32_t type) const {
    for (;;) {  // ends: each round serves at least the leader, or is the last one
      const simt::group same = simt::coalesced(&table_.copy()).match(type);
      claimed got;
      same.sync();  // what members have freed comes before what the leader takes for them
      if (same.is_leader()) got = take(type, same.size());
      same.sync();  // what the leader has acquired is the members' as well
      got.block = same.broadcast(got.block);
      got.slots = same.broadcast(got.slots);
      if (got.slots == 0) return {};
      if (same.rank() < popcount(got.slots)) {
        return {got.block, static_cast<std::uint32_t>(kth_set_bit(got.slots, same.rank()))};
      }
    }
  }

  /// Frees a slot. \pre `type` is the block's, and the slot is the caller's
  WARPHEAP_DEVICE void release(std::uint32_t type, place at) const {
    give_back(type, at.block, std::uint64_t{1} << at.slot);
  }

 private:
  /// Slots of one block that are the caller's.
  struct claimed {
    std::uint32_t block = none;
    std::uint64_t slots = 0;
  };

  /// The number of active blocks that are tried before a free one is taken.
  static constexpr int draws = 5;
  /// The number of searches that others' moves may spoil before the result is accepted anyway.
  static constexpr int patience = 64;
  static constexpr std::uint32_t wait_ns = 200;
  static constexpr std::uint32_t unknown = none - 1;

  /// Up to `want` slots of one block. None if nothing is free.
  WARPHEAP_DEVICE claimed take(std::uint32_t type, int want) const {
    const bitmap_tree active = table_.active_blocks(type);
    int spoilt = 0;
    for (;;) {
      for (int i = 0; i < draws; ++i) {
        const std::uint32_t block = active.draw(simt::noise());
        if (block == none) break;
        const claimed got = take_from(type, block, want);
        if (got.slots != 0) return got;
      }
      // Nothing that is easy to find.
      const claimed got = simt::call_apart(&open_any_apart, table_.copy(), type, want);
      if (got.slots != 0 || got.block == none) return got;
      if (got.block == unknown && ++spoilt == patience) return {};
      simt::backoff(wait_ns);  // lost to others, or they are in the middle of a move
    }
  }

  /// Out of line, so that malloc needs no more registers than blocks of 1024 threads have; called
  /// by one lane for as many as a block has slots.
  WARPHEAP_RARE static claimed open_any_apart(const table& in, std::uint32_t type, int want) {
    return dynasoar_blocks(in).open_any(type, want);
  }

  /// Opens a free block. No slots and no block: nothing is free. No slots and `unknown`: others'
  /// moves have spoilt the search. No slots and any other block: others have taken them.
  WARPHEAP_DEVICE claimed open_any(std::uint32_t type, int want) const {
    // This look is the decisive one, and only reads: once the heap is exhausted, all lanes look.
    const std::uint64_t before = table_.moves();
    const std::uint32_t block = table_.free_blocks().draw(simt::noise());
    if (block != none) return {block, open(type, block, want)};
    const std::uint32_t active = table_.active_blocks(type).draw(simt::noise());
    if (active != none) return {active, 0};
    // Pairs with the releases of the trees' changes: if a draw saw one of a move, this lane sees
    // the move.
    simt::fence(simt::order::acquire);
    const bool valid = !table::any_in_progress(before) && table_.moves() == before;
    return {valid ? none : unknown, 0};
  }

  /// Up to `want` free slots of a block; none if it has none, or is of another type.
  WARPHEAP_DEVICE claimed take_from(std::uint32_t type, std::uint32_t block, int want) const {
    const simt::atomic_ref free = table_.free_slots(block);
    std::uint64_t seen = free.load(simt::order::acquire);
    if (table_.type_of(block) != type) return {};
    while (seen != 0) {
      const std::uint64_t wanted = choose(seen, want);
      const std::uint64_t before = free.fetch_and(~wanted, simt::order::acq_rel);
      const std::uint64_t got = before & wanted;
      if (got == 0) {  // lost to others
        seen = before;
        continue;
      }
      // Our slots keep the type from changing; it may differ from what it was before.
      const std::uint32_t now = table_.type_of(block);
      if ((before & ~wanted) == 0) update_active(now, block, false);
      if (now == type) return {block, got};
      give_back(now, simt::as_needed(block), got);  // seldom, and it needs many registers
      return {};
    }
    return {};
  }

  /// Gives a block the type and takes up to `want` of its slots; 0 if it is no longer free.
  ///
  /// The slots are taken before others see the block. So it is not empty until this call has
  /// returned, and a late lane cannot close it on account of its earlier slots.
  WARPHEAP_DEVICE std::uint64_t open(std::uint32_t type, std::uint32_t block, int want) const {
    const std::uint64_t taken = table::all_slots(type) & low_bits<std::uint64_t>(want);
    const std::uint64_t left = table::all_slots(type) & ~taken;
    table_.announce();
    const bool ours = table_.free_blocks().remove(block);
    if (ours) {
      table_.set_type(block, type);
      table_.allocated_blocks(type).insert(block);
      // Pairs with the acquire of `take_from`: that lane sees the type.
      table_.free_slots(block).store(left, simt::order::release);
      if (left != 0) settle(type, block, true);
    }
    table_.conclude();
    return ours ? taken : 0;
  }

  WARPHEAP_DEVICE void give_back(std::uint32_t type, std::uint32_t block,
                                 std::uint64_t slots) const {
    const std::uint64_t before = table_.free_slots(block).fetch_or(slots, simt::order::acq_rel);
    WARPHEAP_ASSERT((before & slots) == 0);
    // Both tests, in this order: a block of one slot goes from full to empty in one step.
    if ((before | slots) == table::all_slots(type) && close(type, block)) return;
    if (before != 0 && table_.active_blocks(type).contains(block)) return;
    update_active(type, block, true);
  }

  /// Makes a block free if all of its slots are; returns whether this call did. If it did not
  /// although they are, another lane is about to.
  WARPHEAP_DEVICE bool close(std::uint32_t type, std::uint32_t block) const {
    const bitmap_tree allocated = table_.allocated_blocks(type);
    const simt::atomic_ref free = table_.free_slots(block);
    bool closed = false;
    table_.announce();
    while (!closed && allocated.remove(block)) {
      std::uint64_t all = table::all_slots(type);
      closed = free.compare_exchange(all, 0, simt::order::acq_rel);
      if (closed) {
        settle(type, block, false);
        table_.free_blocks().insert(block);
      } else {
        allocated.insert(block);
        // A lane that freed the last slot meanwhile could not remove the block, and left it to us:
        // its attempt comes before our insertion, which acquires what it released.
        if (free.load(simt::order::acquire) != table::all_slots(type)) break;
      }
    }
    table_.conclude();
    return closed;
  }

  /// Like `settle`, with an announcement.
  WARPHEAP_DEVICE void update_active(std::uint32_t type, std::uint32_t block, bool active) const {
    table_.announce();
    settle(type, block, active);
    table_.conclude();
  }

  /// Brings active[type] up to date with a block whose free slots the caller has changed between
  /// none and some. \pre announced
  WARPHEAP_DEVICE void settle(std::uint32_t type, std::uint32_t block, bool active) const {
    const bitmap_tree of_type = table_.active_blocks(type);
    for (;;) {
      if (active) {
        of_type.insert(block);
      } else {
        of_type.remove(block);
      }
      const std::uint64_t free = table_.free_slots(block).fetch_or(0, simt::order::acq_rel);
      const bool now = free != 0 && table_.type_of(block) == type;
      if (now == active) return;
      active = now;
    }
  }

  /// `want` of `slots`, or all if there are fewer: neighbours, from a random one on, so that warps
  /// that meet in a block rarely want the same.
  WARPHEAP_DEVICE static std::uint64_t choose(std::uint64_t slots, int want) {
    const int surplus = popcount(slots) - want;
    if (surplus <= 0) return slots;
    const auto skip = static_cast<int>(scale_to(static_cast<std::uint32_t>(simt::noise()),
                                                static_cast<std::uint32_t>(surplus) + 1));
    const int first = kth_set_bit(slots, skip);
    return slots & bit_range<std::uint64_t>(first, kth_set_bit(slots, skip + want - 1) - first + 1);
  }

  table table_;
};

WARPHEAP_END_NAMESPACE
