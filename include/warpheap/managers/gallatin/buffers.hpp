// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's block buffers (managers/gallatin/gallatin.hpp explains them): the blocks that units,
/// which are slices or several of them, are handed out of, one slot for each kind of unit and
/// multiprocessor.

#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/gallatin/blocks.hpp"
#include "warpheap/managers/gallatin/geometry.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// A slot is one word {units handed out:32 | block:32}. One addition takes units and says of which
/// block, so a lane can never count on a block that has left the slot.
///
/// The word's owner, the only lane that may store to it, is
/// - while units are left: none;
/// - once they are used up: the group whose addition crossed the capacity, until it has stored;
/// - while the slot is empty: none. It becomes owned by exchanging `empty` for `filling`.
/// Others may add at any time; what they add to a word without units is lost, and harmless: each
/// resident lane adds to a used-up block at most once, then waits with loads until the word has
/// changed, so the count stays below 2^32; and the counts of empty and filling words mean nothing.
struct gallatin_slot {
  static constexpr std::uint32_t empty = 0xffffffffu;
  static constexpr std::uint32_t filling = 0xfffffffeu;

  std::uint32_t block = empty;
  std::uint32_t taken = 0;

  WARPHEAP_HD static constexpr gallatin_slot of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  WARPHEAP_HD constexpr std::uint64_t word() const { return units(taken) | block; }
  WARPHEAP_HD static constexpr std::uint64_t units(std::uint32_t count) {
    return std::uint64_t{count} << 32;
  }
  WARPHEAP_HD constexpr bool is_empty() const { return block == empty; }
  /// Units can be taken.
  WARPHEAP_HD constexpr bool has_units(std::uint32_t capacity) const {
    return block < filling && taken < capacity;
  }
  /// Somebody is about to store to it.
  WARPHEAP_HD constexpr bool is_owned(std::uint32_t capacity) const {
    return block == filling || (block < filling && taken >= capacity);
  }
};

template <gallatin_config Config>
class gallatin_buffers {
 public:
  using geometry = gallatin_geometry<Config>;
  using block_store = gallatin_blocks<Config>;

  /// Stands for no unit: the search is for blocks or segments, and no slot can serve it.
  static constexpr std::uint32_t no_unit = geometry::units;

  gallatin_buffers() = default;
  gallatin_buffers(const block_store& blocks, region_cursor& cursor) : blocks_(blocks) {
    lines_ = cursor.take<line>(blocks.shape().multiprocessors(), alignof(line));
    copy_ = cursor.take<gallatin_buffers>(1);
  }

  WARPHEAP_HD const block_store& blocks() const { return blocks_; }
  /// The same in the heap, for functions that are called apart.
  WARPHEAP_DEVICE const gallatin_buffers& copy() const { return *copy_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *copy_ = *this;
    for (std::uint64_t i = rank; i < blocks_.shape().multiprocessors(); i += count) {
      for (auto& word : lines_[i].words) word = gallatin_slot{}.word();
    }
  }

  /// The slot that the calling lane uses first.
  WARPHEAP_DEVICE std::uint32_t own_slot(std::uint32_t unit) const {
    return simt::sm_id() % blocks_.shape().slots(unit);
  }

  WARPHEAP_DEVICE gallatin_slot look(std::uint32_t slot, std::uint32_t unit) const {
    // Relaxed: acting on it takes a read-modify-write.
    return gallatin_slot::of(at(slot, unit).load(simt::order::relaxed));
  }

  /// Takes `count` units; returns the slot's previous value. Those of them that lie below the
  /// capacity are the caller's. A caller whose units reach or cross the capacity has to `refill`.
  WARPHEAP_DEVICE gallatin_slot take(std::uint32_t slot, std::uint32_t unit,
                                     std::uint32_t count) const {
    // Acquire: pairs with the release in `refill`, so that the block's previous users are done.
    return gallatin_slot::of(
        at(slot, unit).fetch_add(gallatin_slot::units(count), simt::order::acquire));
  }

  /// Puts a new block into a slot that the caller owns, or empties the slot if there is none.
  /// Returns that block, whose first units (`want` or all) belong to the caller; or `empty`.
  WARPHEAP_DEVICE std::uint32_t refill(std::uint32_t slot, std::uint32_t unit,
                                       std::uint32_t want) const {
    const geometry shape = blocks_.shape();
    const std::uint32_t tree = geometry::tree_of(unit);
    const std::uint32_t capacity = shape.capacity(unit);
    // Enough segments at once for all slots of a heap that is new, and no more.
    const std::uint32_t at_once = (shape.slots(unit) >> geometry::blocks_shift_of(tree)) + 1;
    // Before a block leaves the tree: a search that has seen the slot empty, and finds the block
    // gone, confirms nothing then. One that comes later sees that the slot is owned or filled. A
    // block of which no lane gets a unit yet is available to all in its slot.
    want != 0 ? blocks_.shortages().end(tree) : blocks_.shortages().end_all();
    const auto got = blocks_.acquire(tree, 1, at_once);
    gallatin_slot next;
    std::uint32_t block = gallatin_slot::empty;
    if (got.bits != 0) {
      block = got.nth(0);
      blocks_.open(tree, block, unit, capacity, want < capacity);
      // Lanes that came for units get them with the block. If it waited in the slot with no unit in
      // use, another lane could retire it before this lane comes back for it, again and again.
      if (want < capacity) next = {block, want};
    }
    // Release: pairs with the acquire in `take`.
    at(slot, unit).store(next.word(), simt::order::release);
    return block;
  }

  enum class claim : std::uint32_t {
    nothing_there,  ///< no block is left for it
    lost,           ///< it is not empty any more
    owned,          ///< the caller has to `refill` it
  };

  /// Makes the caller the owner of an empty slot, if blocks seem to be there.
  WARPHEAP_DEVICE claim claim_empty(std::uint32_t slot, std::uint32_t unit) const {
    std::uint64_t seen = at(slot, unit).load(simt::order::relaxed);
    if (!gallatin_slot::of(seen).is_empty()) return claim::lost;
    if (!blocks_.obtainable(geometry::tree_of(unit))) return claim::nothing_there;
    const std::uint64_t filling = gallatin_slot{gallatin_slot::filling, 0}.word();
    // Acquire: pairs with the release of a search that has found the slot empty, so that `refill`
    // tells that search. Slot and search are a store-load race, as in `exhaustion`.
    return at(slot, unit).compare_exchange(seen, filling, simt::order::acq_rel) ? claim::owned
                                                                                : claim::lost;
  }

  using outlook = gallatin_outlook;

  /// The last resort: memory that waits in buffers. Every lane of `team` examines a share of the
  /// slots of `count` multiprocessors, and returns blocks of other units to the trees if none of
  /// their units is in use. Returns what the calling lane has seen.
  WARPHEAP_DEVICE gallatin_findings::seen search(const simt::group& team, std::uint32_t unit,
                                                 std::uint32_t first, std::uint32_t count) const {
    return simt::call_apart(&search_apart, copy(), team.mask(), unit, first, count);
  }

 private:
  /// The slots of one multiprocessor.
  struct alignas(128) line {
    std::uint64_t words[geometry::units];
  };

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> at(std::uint32_t slot, std::uint32_t unit) const {
    return simt::atomic_ref(lines_[slot].words[unit]);
  }

  // Slots that a lane has under way at once in a search, to hide their latency.
  static constexpr std::uint32_t batch = 4;

  struct place {
    std::uint32_t slot;
    std::uint32_t unit;
  };
  /// Number `i` of the places of the multiprocessors from `first` on.
  WARPHEAP_DEVICE static place place_at(std::uint32_t first, std::uint32_t i) {
    return {first + i / geometry::units, i % geometry::units};
  }

  // Separate functions, because a kernel needs as many registers as the function that uses the
  // most: a look at all slots, what becomes of one of them, and the search around both.
  WARPHEAP_RARE static gallatin_findings::seen search_apart(const gallatin_buffers& in,
                                                            simt::lane_mask members,
                                                            std::uint32_t unit, std::uint32_t first,
                                                            std::uint32_t count) {
    const simt::group team(members);
    gallatin_findings::seen best{outlook::none, 0};
    const auto step = static_cast<std::uint32_t>(team.size());
    const std::uint32_t slots = count * geometry::units;
    // Release: a lane that changes a slot after the look at it sees that there is a search. Relaxed
    // looks between two fences are under way at once; with orders, each would wait for the other.
    simt::fence(simt::order::release);
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < slots; i += batch * step) {
      std::uint64_t seen[batch];
      for (std::uint32_t j = 0; j < batch; ++j) {
        const place where = place_at(first, i + j * step);
        const bool is_used =
            i + j * step < slots && where.slot < in.blocks_.shape().slots(where.unit);
        seen[j] = is_used ? in.at(where.slot, where.unit).fetch_or(0, simt::order::relaxed)
                          : gallatin_slot{}.word();
      }
      simt::fence(simt::order::acquire);  // of what the slots' owners did
      for (std::uint32_t j = 0; j < batch; ++j) {
        if (gallatin_slot::of(seen[j]).is_empty()) continue;
        // As needed: the places of a batch would occupy registers from the looks on.
        const place where = place_at(first, simt::as_needed(i) + j * step);
        const outlook here = in.judge(where, unit, seen[j]);
        if (best.outlook < here) best = {here, where.slot};
      }
    }
    return best;
  }

  /// What a slot that was `seen` like this, and not empty, means for a search for `unit`.
  WARPHEAP_DEVICE outlook judge(const place& where, std::uint32_t unit, std::uint64_t seen) const {
    if (gallatin_slot::of(seen).is_owned(blocks_.shape().capacity(where.unit))) {
      return where.unit == unit ? outlook::coming : outlook::elsewhere_coming;
    }
    if (where.unit == unit) return outlook::in_slot;
    return simt::call_apart(&retire_idle, copy(), where.slot, where.unit, seen);
  }

  /// Takes all units of a block that has no unit in use, so that the block is free.
  /// \pre the slot was seen as `seen`, with units
  WARPHEAP_RARE static outlook retire_idle(const gallatin_buffers& in, std::uint32_t slot,
                                           std::uint32_t unit, std::uint64_t seen) {
    const std::uint32_t tree = geometry::tree_of(unit);
    const std::uint32_t capacity = in.blocks_.shape().capacity(unit);
    const gallatin_slot now = gallatin_slot::of(seen);
    const std::uint32_t rest = capacity - now.taken;
    if (in.blocks_.examine_units_left(tree, now.block) != rest) {
      // In use, if the count is of the time of the word, and not of a block that is being retired.
      return in.look(slot, unit).word() == seen ? outlook::none : outlook::elsewhere_coming;
    }
    const std::uint64_t used_up = gallatin_slot{now.block, capacity}.word();
    if (!in.at(slot, unit).compare_exchange(seen, used_up, simt::order::acq_rel)) {
      return outlook::elsewhere_coming;  // perhaps retired by another lane, and not in the tree yet
    }
    // As the owner: no lane sees the slot empty before the block is in the tree.
    in.blocks_.give_back(tree, now.block, rest);
    in.at(slot, unit).store(gallatin_slot{}.word(), simt::order::release);
    return outlook::gained;
  }

  block_store blocks_;
  line* lines_ = nullptr;
  gallatin_buffers* copy_ = nullptr;
};

WARPHEAP_END_NAMESPACE
