// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Lists of slabs with free items, each with a bulk semaphore of those items: the bins of one size
/// of an arena, or the chunks of an arena.
///
/// A slab should be in its owner's list exactly if its count is not 0. The lane that moves the
/// count to or from 0 calls `settle`, which does what the count then requires, under the list's
/// lock. It may come late, when the slab has another owner: then there is nothing to do, because a
/// slab only leaves its owner under the list's lock, and it is unlinked by then. So the last of
/// several calls leaves the slab where it belongs.
///
/// Lanes look for free items without the lock. A slab that is unlinked during that keeps its link
/// to the next one, so a look may stray into another list; it takes nothing there, and starts again
/// after some steps.
///
/// A semaphore never has more units than its slabs have free items, beyond those that lanes with a
/// unit are about to take: counts rise before units are signalled, and fall after they are granted.
///
/// Orders: a lock's holder acquires the links that the last one released.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/bulk_allocator/slab_table.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bulk_semaphore.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

/// The part of a list that lanes share; it has its own cache line.
struct alignas(128) slab_list {
  std::uint64_t units;
  std::uint32_t lock;
  std::uint32_t head;
};

/// A handle: copies refer to the same lists.
class slab_lists {
 public:
  static constexpr std::uint32_t none = slab_table::none;

  /// Free items of one slab that a lane has taken from its count.
  struct draft {
    std::uint32_t slab = none;
    std::uint32_t items = 0;
  };

  void lay_out(region_cursor& cursor, std::uint32_t lists) {
    lists_ = cursor.take<slab_list>(lists);
    count_ = lists;
  }
  /// The table of the slabs in the lists.
  void use(const slab_table& table) { table_ = table; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) {
      slab_list& list = lists_[i];
      list.units = sync::bulk_semaphore::initial(0);
      list.lock = 0;
      list.head = none;
    }
  }

  WARPHEAP_HD std::uint32_t count() const { return count_; }

  WARPHEAP_DEVICE sync::bulk_semaphore units(std::uint32_t list) const {
    return sync::bulk_semaphore(lists_[list].units);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> head(std::uint32_t list) const {
    return simt::atomic_ref(lists_[list].head);
  }
  WARPHEAP_DEVICE bool is_locked(std::uint32_t list) const {
    return lock_word(list).load(simt::order::relaxed) != 0;
  }

  /// Takes up to `most` free items of one slab. \pre the caller has `most` units, 1 at least
  ///
  /// Ends: a unit stands for a free item of a slab that is in the list, or that a lane is about to
  /// link, which waits only for the lock. A futile look was overtaken by others that took and
  /// freed.
  WARPHEAP_DEVICE draft draw(std::uint32_t list, std::uint32_t most) const {
    for (;;) {
      std::uint32_t slab = head(list).load(simt::order::relaxed);
      for (int step = 0; slab != none && step < most_steps; ++step) {
        page_state seen = table_.state(slab);
        while (seen.is_slab_of(list) && seen.count() != 0) {
          const std::uint32_t items = most < seen.count() ? most : seen.count();
          const page_state left = seen.without(items);
          if (table_.change_state(slab, seen, left)) {
            if (left.count() == 0) settle(list, slab);
            return {slab, items};
          }
        }
        slab = table_.next(slab).load(simt::order::relaxed);
      }
      simt::backoff(64);
    }
  }

  /// Links or unlinks a slab whose count has come from 0 or has become 0.
  WARPHEAP_DEVICE void settle(std::uint32_t list, std::uint32_t slab) const {
    acquire(list);
    const page_state now = table_.state(slab);
    if (now.is_slab_of(list)) {
      const bool linked = table_.previous(slab).load(simt::order::relaxed) != slab_table::unlinked;
      if (now.count() != 0 && !linked) link(list, slab);
      if (now.count() == 0 && linked) unlink(list, slab);
    }
    release(list);
  }

  /// Takes a slab whose `items` items are all free from its list; false if some are no longer free.
  /// \pre the caller has borrowed that many units
  WARPHEAP_DEVICE bool remove_whole(std::uint32_t list, std::uint32_t slab,
                                    std::uint32_t items) const {
    acquire(list);
    // Not what a load sees, which may be old. Ends: it fails again only if a lane notes the slab or
    // takes an item meanwhile.
    page_state now = page_state::slab(list, items);
    bool removed = false;
    do {
      removed = table_.change_state(slab, now, page_state::nothing());
    } while (!removed && now.is_slab_of(list) && now.count() == items);
    if (removed && table_.previous(slab).load(simt::order::relaxed) != slab_table::unlinked) {
      unlink(list, slab);
    }
    release(list);
    return removed;
  }

 private:
  /// Slabs in a list have free items, except for those about to be unlinked.
  static constexpr int most_steps = 64;

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> lock_word(std::uint32_t list) const {
    return simt::atomic_ref(lists_[list].lock);
  }

  /// Ends: the holder of a lock changes some links and never waits.
  WARPHEAP_DEVICE void acquire(std::uint32_t list) const {
    while (lock_word(list).exchange(1, simt::order::acquire) != 0) simt::backoff(64);
  }
  WARPHEAP_DEVICE void release(std::uint32_t list) const {
    lock_word(list).store(0, simt::order::release);
  }

  WARPHEAP_DEVICE void link(std::uint32_t list, std::uint32_t slab) const {
    const std::uint32_t second = head(list).load(simt::order::relaxed);
    table_.next(slab).store(second, simt::order::relaxed);
    table_.previous(slab).store(slab_table::first, simt::order::relaxed);
    if (second != none) table_.previous(second).store(slab, simt::order::relaxed);
    head(list).store(slab, simt::order::relaxed);
  }

  /// Leaves `next` as it is: other lanes may stand on this slab.
  WARPHEAP_DEVICE void unlink(std::uint32_t list, std::uint32_t slab) const {
    const std::uint32_t before = table_.previous(slab).load(simt::order::relaxed);
    const std::uint32_t after = table_.next(slab).load(simt::order::relaxed);
    if (before == slab_table::first) {
      head(list).store(after, simt::order::relaxed);
    } else {
      table_.next(before).store(after, simt::order::relaxed);
    }
    if (after != none) table_.previous(after).store(before, simt::order::relaxed);
    table_.previous(slab).store(slab_table::unlinked, simt::order::relaxed);
  }

  slab_list* lists_ = nullptr;
  std::uint32_t count_ = 0;
  slab_table table_;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
