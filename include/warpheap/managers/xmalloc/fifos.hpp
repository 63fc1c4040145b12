// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The two levels of FIFOs: for each class some of free Basicblocks, by the unit that they begin
/// in, and one of Superblocks with free blocks. Fixed rings; a group's operation costs as many
/// atomics as a lane's (sync/index_queue/bounded_queue.hpp).

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/index_queue/bounded_queue.hpp"
#include "warpheap/sync/index_queue/static_queue.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

/// The calling lane as a group.
WARPHEAP_DEVICE inline simt::group alone() {
  return simt::group(simt::lane_mask::of(simt::lane_id()));
}

template <xmalloc_config Config>
class fifos {
  using sizes = geometry<Config>;
  using ring = sync::static_queue<std::uint64_t>;

 public:
  using fifo = sync::bounded_queue<ring>;

  fifos() = default;
  /// For a heap of `units`.
  fifos(region_cursor& cursor, std::uint32_t units)
      : list_log2_(log2_for_lists(units)), second_log2_(log2_for_superblocks(units)) {
    words_ = cursor.take<fifo_words>(std::size_t{sizes::classes} * (sizes::lists + 1), 128);
    slots_ = cursor.take<std::uint64_t>(second_slots(sizes::classes), 128);
  }

  /// Basicblocks that each first-level FIFO holds.
  WARPHEAP_HD std::uint32_t list_blocks() const { return 1u << list_log2_; }
  /// Superblocks that the second-level FIFO of a class holds: more than the heap has.
  WARPHEAP_HD std::uint64_t second_blocks(std::uint32_t cls) const {
    return std::uint64_t{1} << second_slots_log2(cls);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      for (std::uint32_t i = 0; i < sizes::lists; ++i) {
        list(cls, i).positions().format(rank, count);
        if (rank == 0) format_counts(cls * sizes::lists + i, list_blocks());
      }
      second(cls).positions().format(rank, count);
      if (rank == 0) format_counts(sizes::classes * sizes::lists + cls, second_blocks(cls));
    }
  }

  /// A first-level FIFO.
  WARPHEAP_HD fifo list(std::uint32_t cls, std::uint32_t i) const {
    const std::uint32_t number = cls * sizes::lists + i;
    return over(number, slots_ + (std::size_t{number} << list_log2_), list_log2_);
  }
  /// A second-level FIFO.
  WARPHEAP_HD fifo second(std::uint32_t cls) const {
    return over(sizes::classes * sizes::lists + cls, slots_ + second_slots(cls),
                second_slots_log2(cls));
  }

  /// The list into which lanes of this multiprocessor put blocks, and into which they look first.
  WARPHEAP_DEVICE static std::uint32_t own_list() { return simt::sm_id() % sizes::lists; }

  /// The number of entries; for a moment, it may be too small or negative, while a group requests
  /// more than there are.
  WARPHEAP_DEVICE static std::int64_t count(const fifo& of) { return of.items().read().count; }

  /// A list of the class with blocks, the multiprocessor's own one first; `none` if there is none.
  WARPHEAP_DEVICE std::uint32_t list_with_blocks(std::uint32_t cls) const {
    std::uint32_t i = own_list();
    for (std::uint32_t tried = 0; tried < sizes::lists; ++tried) {
      if (count(list(cls, i)) > 0) return i;
      i = i + 1 == sizes::lists ? 0 : i + 1;
    }
    return none;
  }

  /// Takes one entry for each of the first members, as far as there are entries.
  WARPHEAP_DEVICE static bool pop(const simt::group& members, const fifo& from,
                                  std::uint32_t& value) {
    std::uint32_t granted = 0;
    if (members.is_leader()) {
      granted = from.items().take_up_to(static_cast<std::uint32_t>(members.size()));
    }
    std::uint64_t found = 0;
    if (!from.pop_granted(members, members.broadcast(granted), found)) return false;
    value = static_cast<std::uint32_t>(found);
    return true;
  }

  /// Puts a Superblock that the calling lane owns into its FIFO. Ends: that has room for every
  /// Superblock, and lanes that have taken one and not yet said that its slot is free do so without
  /// waiting for this one.
  WARPHEAP_DEVICE void push_second(std::uint32_t cls, std::uint32_t superblock) const {
    while (!second(cls).push(alone(), superblock)) simt::backoff(pause);
  }

 private:
  static constexpr std::uint32_t pause = 100;  // nanoseconds
  static constexpr int value_bits = 32;

  struct fifo_words {
    alignas(128) std::uint64_t items;
    alignas(128) std::uint64_t room;
    sync::queue_ends ends;
  };

  /// Blocks in lists take at most a sixteenth of the heap, or four blocks in each list.
  static int log2_for_lists(std::uint32_t units) {
    const std::size_t largest = std::size_t{sizes::block_units(sizes::classes - 1)};
    const std::size_t share = units / (16 * sizes::lists * largest);
    const int most = floor_log2(Config.list_blocks);
    const int fair = share < 4 ? 2 : floor_log2(share);
    return fair < most ? fair : most;
  }
  /// For the second-level FIFO of class 0. A Superblock of class c has more units than its blocks,
  /// so `2^(result - c)` slots are enough for all of that class, even if all are of fewest blocks.
  static int log2_for_superblocks(std::uint32_t units) {
    const std::uint32_t least = sizes::least_blocks * sizes::block_units(0);
    return ring::log2_of_slots(units / least + 1);
  }
  WARPHEAP_HD int second_slots_log2(std::uint32_t cls) const {
    const int log2 = second_log2_ - static_cast<int>(cls);
    return log2 < 1 ? 1 : log2;
  }
  /// Slots before those of the second-level FIFO of a class.
  WARPHEAP_HD std::size_t second_slots(std::uint32_t cls) const {
    std::size_t before = std::size_t{sizes::classes} * sizes::lists << list_log2_;
    for (std::uint32_t c = 0; c < cls; ++c) before += std::size_t{1} << second_slots_log2(c);
    return before;
  }

  WARPHEAP_HD fifo over(std::uint32_t number, std::uint64_t* slots, int log2) const {
    fifo_words& words = words_[number];
    return fifo(ring(&words.ends, slots, log2, value_bits), &words.items, &words.room);
  }

  WARPHEAP_DEVICE void format_counts(std::uint32_t number, std::uint64_t room) const {
    words_[number].items = sync::bulk_semaphore::initial(0);
    words_[number].room = sync::bulk_semaphore::initial(static_cast<std::int64_t>(room));
  }

  fifo_words* words_ = nullptr;
  std::uint64_t* slots_ = nullptr;
  int list_log2_ = 0;
  int second_log2_ = 0;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
