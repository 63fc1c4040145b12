// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The bottom of XMalloc: a linked list of Memoryblocks, free and in use, that tile the heap. A
/// search looks at the free ones (free_rings.hpp); a block that is freed merges with free
/// neighbours.
///
/// One lock guards the list, so headers of neighbours, which are read and changed while blocks
/// merge and split, never go out of date. Everything that says `\pre locked` is plain access. A
/// block is cut off the end of a free one, which keeps its place in its ring unless it is now of
/// another one. A futile search records its size, and searches for that or more return at once
/// until a merged block is that large.
///
/// Lanes that call together hold the lock together. If one free block is large enough for all that
/// they want, it is split in one step, and what they free in a row is freed as one block; otherwise
/// they come one after the other.
///
/// Progress: blocking. The lanes that hold the lock search the free blocks at most three times each
/// and wait only for each other. A lane that wants a block gives up as soon as there is none of
/// that size; where memory is scarce, also after others have held the lock several times: there,
/// most lanes that hold it find nothing, and so many queue that waiting for a turn takes longer
/// than everything else.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/free_rings.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

enum class memory_state : std::uint32_t { free = 0, block = 1, superblock = 2, end = 3 };

template <xmalloc_config Config>
class memoryblocks {
 public:
  using sizes = geometry<Config>;

  /// Before a Memoryblock's first byte.
  struct header {
    std::uint32_t next;
    /// `none` for the first.
    std::uint32_t prev;
    memory_state state;
    /// A block_word, of a block in use.
    std::uint32_t word;
  };

  /// How often others may hold the lock before a lane gives up: where not even the smallest
  /// Superblock fits; where no free block is `scarce` times as large as what the lane wants; and
  /// otherwise.
  static constexpr std::uint32_t few_holders = 4;
  static constexpr std::uint32_t some_holders = 16;
  static constexpr std::uint32_t any_holders = ~0u;
  static constexpr std::uint32_t scarce = 16;

  memoryblocks() = default;
  memoryblocks(region_cursor& cursor, std::uint32_t units)
      : shared_(cursor.take<shared_words>(1)), units_(units) {
    // The end is a header that is never free.
    base_ = cursor.take<std::byte>(std::size_t{units} * sizes::unit + sizeof(header), 128);
  }

  WARPHEAP_HD std::uint32_t units() const { return units_; }
  WARPHEAP_HD std::byte* base() const { return base_; }
  WARPHEAP_HD header& at(std::uint32_t unit) const {
    return *reinterpret_cast<header*>(base_ + std::size_t{unit} * sizes::unit);
  }
  WARPHEAP_HD std::byte* bytes_of(std::uint32_t unit) const {
    return base_ + std::size_t{unit} * sizes::unit + sizes::memory_header;
  }
  /// The unit that `block`, a pointer into the heap, lies in.
  WARPHEAP_HD std::uint32_t unit_of(const std::byte* block) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(block - base_) / sizes::unit);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank) const {
    if (rank != 0) return;
    at(0) = {units_, none, memory_state::free, 0};
    at(units_) = {none, 0, memory_state::end, 0};
    shared_->lock = 0;
    free().format();
    free().link(0, units_);
    shared_->none_from = units_ + 1;
  }

  /// Whether no block of `units` is free. Relaxed: the word changes only under the lock, and a lane
  /// that has acquired a free has acquired what it wrote here.
  WARPHEAP_DEVICE bool is_out(std::uint32_t units) const {
    return units >= simt::atomic_ref(shared_->none_from).load(simt::order::relaxed);
  }

  /// A block of `units`; `none` if there is none, or if memory is scarce and others hold the lock
  /// all the time.
  /// \param kept free blocks of this many units stay whole: `none`, too, if there is one. 0: take
  /// any
  WARPHEAP_DEVICE std::uint32_t take(std::uint32_t units, std::uint32_t kept = 0) const {
    if (is_out(units)) return none;
    const simt::group together = simt::coalesced(base_);
    const std::uint32_t key = lock(together, units);
    if (key == none) return none;
    std::uint32_t taken = none;
    if (together.size() != 1 && !together.any(kept != 0)) taken = take_together(together, units);
    if (!together.any(taken != none)) {  // all of them have something, or none
      in_turn(together, together.mask(), [&] {
        const std::uint32_t found = kept != 0 && search(kept) != none ? none : search(units);
        if (found != none) taken = cut(found, units, memory_state::block);
      });
    }
    unlock(together, key);
    return taken;
  }

  /// A block for a Superblock of a class, as large as there is, up to a whole one; `none` like
  /// `take`. \param blocks receives the number of Basicblocks that fit into it
  WARPHEAP_DEVICE std::uint32_t take_superblock(std::uint32_t cls, std::uint32_t& blocks) const {
    if (is_out(sizes::least_units(cls))) return none;
    const simt::group together = simt::coalesced(base_);
    const std::uint32_t key = lock(together, sizes::least_units(cls));
    if (key == none) return none;
    std::uint32_t taken = none;
    in_turn(together, together.mask(), [&] {
      std::uint32_t found = search(sizes::superblock_units(cls));
      if (found == none) found = search_large(sizes::least_units(cls));
      if (found == none) return;
      blocks = sizes::blocks_that_fit(cls, size_of(found));
      taken = cut(found, sizes::superblock_units(cls, blocks), memory_state::superblock);
    });
    unlock(together, key);
    return taken;
  }

  WARPHEAP_DEVICE void give(std::uint32_t unit) const {
    const simt::group together = simt::coalesced(base_);
    const std::uint32_t key = lock(together, whatever_is_free);
    const row freed = row_of(together, unit);
    at(unit).word = 0;  // also inside a row, where nothing else tells that the block is free
    in_turn(together, freed.firsts, [&] {
      join(unit, freed.end);
      const std::uint32_t size = size_of(merge(unit));
      if (is_out(size)) {
        simt::atomic_ref(shared_->none_from).store(size + 1, simt::order::relaxed);
      }
    });
    unlock(together, key);
  }

  // Only while no lane allocates.

  WARPHEAP_DEVICE bool is_locked() const { return shared_->lock % 2 != 0; }
  WARPHEAP_DEVICE free_rings<sizes> free() const { return {shared_->free, base_}; }

 private:
  // Nanoseconds: about the time that the lock is held.
  static constexpr std::uint32_t shortest_pause = 64;
  static constexpr std::uint32_t longest_pause = 2000;
  static constexpr std::uint32_t whatever_is_free = 0;

  struct shared_words {
    /// Odd while lanes hold the lock.
    alignas(128) std::uint32_t lock;
    free_ring_heads free;
    /// No free block has that many units.
    alignas(128) std::uint32_t none_from;
  };
  WARPHEAP_DEVICE std::uint32_t size_of(std::uint32_t unit) const { return at(unit).next - unit; }

  /// Calls `locked()` in each of `lanes`, members of a group that holds the lock, one after the
  /// other.
  template <class Locked>
  WARPHEAP_DEVICE void in_turn(const simt::group& together, simt::lane_mask lanes,
                               const Locked& locked) const {
    for (; !lanes.empty(); lanes = lanes.without(lanes.lowest())) {
      together.sync();  // a member sees what the last one wrote
      if (lanes.lowest() == simt::lane_id()) locked();
    }
  }

  /// Blocks of members of a group, each of which begins where the block of the member before ends.
  struct row {
    /// The members whose blocks are the first of rows.
    simt::lane_mask firsts;
    /// Of the caller's row, if it is the first.
    std::uint32_t end;
  };
  WARPHEAP_DEVICE row row_of(const simt::group& together, std::uint32_t unit) const {
    const simt::lane_mask members = together.mask();
    const std::uint32_t end = at(unit).next;
    const bool goes_on = together.shuffle(end, before(members)) == unit;
    const simt::lane_mask firsts = together.ballot(!goes_on);
    const simt::lane_mask later = firsts - members.below(simt::lane_id() + 1);
    const simt::lane_mask mine = later.empty() ? members : members.below(later.lowest());
    return {firsts, together.shuffle(end, highest_bit(mine.bits()))};
  }
  /// The member before the caller; the first one itself.
  WARPHEAP_DEVICE static int before(simt::lane_mask members) {
    const simt::lane_mask below = members.below(simt::lane_id());
    return below.empty() ? simt::lane_id() : highest_bit(below.bits());
  }

  /// The leader takes the lock for its group, whose members want `units` each. What `unlock` wants;
  /// `none` if they shall give up: see the head of this file.
  WARPHEAP_DEVICE std::uint32_t lock(const simt::group& together, std::uint32_t units) const {
    const std::uint32_t least = together.least(units);
    together.sync();  // what members did comes before what the leader releases
    std::uint32_t key = none;
    if (together.is_leader()) key = lock(least);
    together.sync();  // what the leader has acquired is the members' as well
    return together.broadcast(key);
  }
  WARPHEAP_DEVICE void unlock(const simt::group& together, std::uint32_t key) const {
    together.sync();  // what members wrote comes before what the leader releases
    if (together.is_leader()) simt::atomic_ref(shared_->lock).store(key + 2, simt::order::release);
  }

  /// For a lane that wants `units`.
  WARPHEAP_DEVICE std::uint32_t most_holders(std::uint32_t units) const {
    if (units == whatever_is_free) return any_holders;
    if (is_out(sizes::least_units(0))) return few_holders;
    const bool is_scarce = units > units_ / scarce || is_out(scarce * units);
    return is_scarce ? some_holders : any_holders;
  }

  WARPHEAP_DEVICE std::uint32_t lock(std::uint32_t units) const {
    const simt::atomic_ref word(shared_->lock);
    std::uint32_t holders = most_holders(units);
    std::uint32_t pause = shortest_pause;
    std::uint32_t seen = word.load(simt::order::relaxed);
    for (;;) {
      // Acquire pairs with the release in `unlock`: what the last holder wrote, and what the last
      // owners of free blocks did in them.
      if (seen % 2 == 0 && word.compare_exchange(seen, seen + 1, simt::order::acquire)) return seen;
      const std::uint32_t held = seen;
      simt::backoff(pause);
      pause = pause < longest_pause ? 2 * pause : longest_pause;
      seen = word.load(simt::order::relaxed);
      if (seen == held) continue;
      if (is_out(units)) return none;
      if (holders == any_holders) continue;
      --holders;
      if (holders == 0) return none;
    }
  }

  /// Blocks of `units` for all members, out of one free block; none for any if there is no such
  /// block. \pre locked
  WARPHEAP_DEVICE std::uint32_t take_together(const simt::group& together,
                                              std::uint32_t units) const {
    const auto sums = sync::sum_over<std::uint64_t>(together, units);
    if (sums.total > units_) return none;
    const auto all = static_cast<std::uint32_t>(sums.total);
    std::uint32_t first = none;
    if (together.is_leader()) {
      const std::uint32_t found = search(all);
      if (found != none) first = cut(found, all, memory_state::block);
    }
    first = together.broadcast(first);
    if (first == none) return none;
    together.sync();  // the leader's header is written before the other ones
    const std::uint32_t unit = first + static_cast<std::uint32_t>(sums.before);
    const std::uint32_t prev = together.shuffle(unit, before(together.mask()));
    if (unit == first) {
      at(unit).next = unit + units;
    } else {
      at(unit) = {unit + units, prev, memory_state::block, block_word::memory().bits()};
    }
    if (unit + units == first + all) at(first + all).prev = unit;
    return unit;
  }

  /// A free block of `units` or more. \pre locked
  WARPHEAP_DEVICE std::uint32_t search(std::uint32_t units) const {
    if (is_out(units)) return none;
    const std::uint32_t found =
        free().find(units, [&](std::uint32_t unit) { return size_of(unit); });
    if (found == none) simt::atomic_ref(shared_->none_from).store(units, simt::order::relaxed);
    return found;
  }

  /// A block of the ring of the largest ones, if that is `units` or more; otherwise as `search`.
  /// \pre locked
  WARPHEAP_DEVICE std::uint32_t search_large(std::uint32_t units) const {
    const std::uint32_t found = free().large();
    return found != none && size_of(found) >= units ? found : search(units);
  }

  /// The last `units` of a free block, or all of it, for use. \pre locked
  WARPHEAP_DEVICE std::uint32_t cut(std::uint32_t unit, std::uint32_t units,
                                    memory_state state) const {
    const std::uint32_t before = size_of(unit);
    std::uint32_t taken = unit;
    if (before == units) {
      free().unlink(unit, before);
    } else {
      taken = at(unit).next - units;
      join(taken, at(unit).next);
      at(taken).prev = unit;
      at(unit).next = taken;
      free().resize(unit, before, before - units);
    }
    at(taken).state = state;
    at(taken).word = block_word::memory().bits();
    return taken;
  }

  /// Frees a block, and merges it with its free neighbours. Returns the block that it is then a
  /// part of. \pre locked
  WARPHEAP_DEVICE std::uint32_t merge(std::uint32_t unit) const {
    header& freed = at(unit);
    freed.state = memory_state::free;
    if (at(freed.next).state == memory_state::free) {
      free().unlink(freed.next, size_of(freed.next));
      join(unit, at(freed.next).next);
    }
    if (freed.prev != none && at(freed.prev).state == memory_state::free) {
      const std::uint32_t front = freed.prev;
      const std::uint32_t before = size_of(front);
      join(front, freed.next);
      free().resize(front, before, size_of(front));
      return front;
    }
    free().link(unit, size_of(unit));
    return unit;
  }

  WARPHEAP_DEVICE void join(std::uint32_t unit, std::uint32_t next) const {
    at(unit).next = next;
    at(next).prev = unit;
  }

  shared_words* shared_ = nullptr;
  std::byte* base_ = nullptr;
  std::uint32_t units_ = 0;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
