// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's block buffers (managers/gallatin/gallatin.hpp explains them): the blocks that units
/// are handed out of, one slot for each kind of unit and multiprocessor.

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
/// - while units are left: nobody;
/// - once they are used up: the group whose addition crossed the capacity, until it has stored;
/// - while the slot is empty: nobody. It becomes owned by exchanging `empty` for `filling`.
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
    fills_ = cursor.take<std::uint32_t>(geometry::units, 128);
  }

  WARPHEAP_HD const block_store& blocks() const { return blocks_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < blocks_.shape().multiprocessors(); i += count) {
      for (auto& word : lines_[i].words) word = gallatin_slot{}.word();
    }
    for (std::uint64_t i = rank; i < geometry::units; i += count) fills_[i] = 0;
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

  /// Gives a slot that the caller owns a new block, or makes it empty if there is none. The block,
  /// of which the first units, `want` or all, are the caller's; or `empty`.
  WARPHEAP_DEVICE std::uint32_t refill(std::uint32_t slot, std::uint32_t unit,
                                       std::uint32_t want) const {
    const geometry shape = blocks_.shape();
    const std::uint32_t tree = geometry::tree_of(unit);
    const std::uint32_t capacity = shape.capacity(unit);
    // Enough segments at once for all slots of a heap that is new, and no more.
    const std::uint32_t at_once = (shape.slots(unit) >> geometry::blocks_shift_of(tree)) + 1;
    // Before a block leaves the tree: see `fills`. Release: a lane that counts this refill already
    // before its look at the slots finds this one owned or filled, and not still empty.
    simt::atomic_ref(fills_[unit]).fetch_add(1, simt::order::release);
    const auto got = blocks_.acquire(tree, 1, at_once);
    gallatin_slot next;
    std::uint32_t block = gallatin_slot::empty;
    if (got.bits != 0) {
      block = got.nth(0);
      blocks_.open(tree, block, unit, capacity);
      // Lanes that came for units get them with the block: one that waited in the slot with nothing
      // of it in use could be retired by another lane before this one comes back for it, and so on
      // in turns.
      if (want < capacity) next = {block, want};
    }
    // Release: pairs with the acquire in `take`.
    at(slot, unit).store(next.word(), simt::order::release);
    return block;
  }

  enum class claim : std::uint32_t {
    nothing_there,  ///< there is no block to fill it with
    lost,           ///< it is not empty any more
    owned,          ///< the caller has to `refill` it
  };

  /// Makes the caller the owner of an empty slot, if blocks seem to be there.
  WARPHEAP_DEVICE claim claim_empty(std::uint32_t slot, std::uint32_t unit) const {
    std::uint64_t seen = at(slot, unit).load(simt::order::relaxed);
    if (!gallatin_slot::of(seen).is_empty()) return claim::lost;
    if (!blocks_.obtainable(geometry::tree_of(unit))) return claim::nothing_there;
    const std::uint64_t filling = gallatin_slot{gallatin_slot::filling, 0}.word();
    // Acquire and release: the slot's owners come one after the other.
    return at(slot, unit).compare_exchange(seen, filling, simt::order::acq_rel) ? claim::owned
                                                                                : claim::lost;
  }

  /// How often a refill of a slot of `unit` has begun. If it is the same before and after a look at
  /// all slots and then at the trees, no block has slipped from the trees into a slot in between.
  WARPHEAP_DEVICE std::uint32_t fills(std::uint32_t unit) const {
    return unit == no_unit ? 0 : simt::atomic_ref(fills_[unit]).load(simt::order::acquire);
  }

  /// The larger the value, the more useful.
  enum class outlook : std::uint32_t {
    none,              ///< there is nothing, and nothing is on its way
    elsewhere_coming,  ///< something of other units is on its way, and may become free
    coming,            ///< the unit's blocks are on their way
    gained,            ///< blocks were idle, and are in the trees now
    in_slot,           ///< a slot of the unit has units
  };

  /// The last resort: memory that waits in buffers. Every lane of `team` looks at a share of the
  /// slots and returns blocks of other units to the trees if none of their units is in use. A
  /// collective.
  /// \param slot set to a slot of the unit that has units, if any
  WARPHEAP_DEVICE outlook search(const simt::group& team, std::uint32_t unit,
                                 std::uint32_t& slot) const {
    const geometry shape = blocks_.shape();
    outlook seen = outlook::none;
    std::uint32_t found = 0;
    const auto step = static_cast<std::uint32_t>(team.size());
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < shape.multiprocessors(); i += step) {
      for (std::uint32_t units = used_slots(i); units != 0; units &= units - 1) {
        const auto other = static_cast<std::uint32_t>(lowest_bit(units));
        const gallatin_slot now = look(i, other);
        outlook here = outlook::none;
        if (now.is_owned(shape.capacity(other))) {
          here = other == unit ? outlook::coming : outlook::elsewhere_coming;
        } else if (other == unit) {
          if (now.has_units(shape.capacity(other))) {
            here = outlook::in_slot;
            found = i;
          }
        } else {
          here = retire_idle(i, other);
        }
        seen = seen < here ? here : seen;
      }
    }
    // Pairs with the release by which `retire_idle` empties a slot: a lane that finds it empty
    // finds its block in the tree, where the caller looks next.
    simt::fence(simt::order::acquire);
    const simt::lane_mask with_units = team.ballot(seen == outlook::in_slot);
    if (!with_units.empty()) {
      slot = team.shuffle(found, with_units.lowest());
      return outlook::in_slot;
    }
    if (team.any(seen == outlook::gained)) return outlook::gained;
    if (team.any(seen == outlook::coming)) return outlook::coming;
    return team.any(seen == outlook::elsewhere_coming) ? outlook::elsewhere_coming : outlook::none;
  }

 private:
  /// The slots of one multiprocessor.
  struct alignas(128) line {
    std::uint64_t words[geometry::units];
  };

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> at(std::uint32_t slot, std::uint32_t unit) const {
    return simt::atomic_ref(lines_[slot].words[unit]);
  }

  /// The units of line `i` whose slots are not empty, as bits. All loads are under way at once.
  WARPHEAP_DEVICE std::uint32_t used_slots(std::uint32_t i) const {
    std::uint32_t used = 0;
    for (std::uint32_t unit = 0; unit < geometry::units; ++unit) {
      used |= look(i, unit).is_empty() ? 0u : 1u << unit;
    }
    return used;
  }

  /// Takes all units of a block that has no unit in use, so that the block is free.
  WARPHEAP_DEVICE outlook retire_idle(std::uint32_t slot, std::uint32_t unit) const {
    const std::uint32_t tree = geometry::tree_of(unit);
    const std::uint32_t capacity = blocks_.shape().capacity(unit);
    std::uint64_t seen = at(slot, unit).load(simt::order::acquire);
    const gallatin_slot now = gallatin_slot::of(seen);
    if (now.is_empty()) return outlook::none;
    if (!now.has_units(capacity)) return outlook::elsewhere_coming;
    const std::uint32_t rest = capacity - now.taken;
    if (blocks_.units_left(tree, now.block) != rest) {
      // In use, if the count is of the time of the word, and not of a block that is being retired.
      return look(slot, unit).word() == seen ? outlook::none : outlook::elsewhere_coming;
    }
    const std::uint64_t used_up = gallatin_slot{now.block, capacity}.word();
    if (!at(slot, unit).compare_exchange(seen, used_up, simt::order::acq_rel)) {
      return outlook::elsewhere_coming;  // perhaps retired by another lane, and not in the tree yet
    }
    // As the owner: no lane sees the slot empty before the block is in the tree.
    blocks_.give_back(tree, now.block, rest);
    at(slot, unit).store(gallatin_slot{}.word(), simt::order::release);
    return outlook::gained;
  }

  block_store blocks_;
  line* lines_ = nullptr;
  std::uint32_t* fills_ = nullptr;
};

WARPHEAP_END_NAMESPACE
