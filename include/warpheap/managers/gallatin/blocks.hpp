// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's segments and blocks (managers/gallatin/gallatin.hpp explains them): which lane owns a
/// segment, which blocks are free, and how many units of a block are not yet given back.

#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/gallatin/geometry.hpp"
#include "warpheap/managers/gallatin/memory_table.hpp"
#include "warpheap/managers/gallatin/shortages.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/moves.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <gallatin_config Config>
class gallatin_blocks {
 public:
  using geometry = gallatin_geometry<Config>;
  using blocks = bitmap_tree::word_elements;
  static constexpr std::uint32_t none = bitmap_tree::none;

  /// What a block's counter says besides how many units are left: the unit, or this.
  static constexpr std::uint32_t whole_block = 127;

  gallatin_blocks() = default;
  gallatin_blocks(const geometry& shape, region_cursor& cursor) : shape_(shape) {
    control_ = cursor.take<control>(1, alignof(control));
    shortages_ = gallatin_shortages<Config>(cursor);
    memory_table_ = gallatin_memory_table(cursor, shape.segments());
    segment_words_ = cursor.take<std::uint64_t>(bitmap_tree::words_for(shape.segments()), 128);
    tree_stride_ = static_cast<std::uint32_t>(round_up<std::size_t>(
        bitmap_tree::words_for(shape.segments() << geometry::blocks_shift), 16));
    tree_words_ = cursor.take<std::uint64_t>(std::size_t{tree_stride_} * geometry::trees, 128);
    counters_ =
        cursor.take<std::uint32_t>(std::size_t{shape.segments()} << geometry::blocks_shift, 128);
  }

  WARPHEAP_HD geometry shape() const { return shape_; }
  WARPHEAP_HD const gallatin_shortages<Config>& shortages() const { return shortages_; }

  WARPHEAP_DEVICE bitmap_tree free_segments() const {
    return bitmap_tree(segment_words_, shape_.segments());
  }
  /// The free blocks of all segments that belong to `tree`.
  WARPHEAP_DEVICE bitmap_tree free_blocks(std::uint32_t tree) const {
    return bitmap_tree(tree_words_ + std::size_t{tree} * tree_stride_,
                       shape_.segments() << geometry::blocks_shift_of(tree));
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    free_segments().format(free_segments().universe(), rank, count);
    for (std::uint32_t tree = 0; tree < geometry::trees; ++tree) {
      free_blocks(tree).format(0, rank, count);
      if (rank == 0) control_->moves[tree].word = 0;
    }
    if (rank == 0) {
      control_->run_lock = 0;
      control_->run_claims = 0;
    }
    shortages_.format(rank, count);
    memory_table_.format(shape_.segments(), rank, count);
    const std::uint64_t counters = std::uint64_t{shape_.segments()} << geometry::blocks_shift;
    for (std::uint64_t i = rank; i < counters; i += count) counters_[i] = 0;
  }

  WARPHEAP_DEVICE std::uint32_t kind(std::uint32_t segment) const {
    return memory_table_.kind(segment);
  }

  /// Whether there is a block of `tree`, a segment that could be cut into blocks, one that is on
  /// its way, or one that is hidden because a run is being claimed, which may fail and put it back.
  /// False only if there was none of these at one time.
  WARPHEAP_DEVICE bool obtainable(std::uint32_t tree) const {
    return obtainable(tree, [](const bitmap_tree& set) { return set.any(); });
  }
  /// The same for a search that lanes share: see `gallatin_shortages`. Does not wait.
  WARPHEAP_DEVICE bool examine_obtainable(std::uint32_t tree) const {
    return obtainable(tree, [](const bitmap_tree& set) { return set.examine_any(); });
  }

  /// Takes up to `want` free blocks of `tree`; returns none if there is neither a block nor a
  /// segment to cut into blocks.
  ///
  /// Waits only while other lanes move segments of this tree. They never wait, and this function
  /// has no collectives, so they may be lanes of the caller's warp.
  /// \param segments_at_once lanes that may move a segment at the same time
  WARPHEAP_DEVICE blocks acquire(std::uint32_t tree, int want,
                                 std::uint32_t segments_at_once) const {
    const int shift = geometry::blocks_shift_of(tree);
    // A segment that is a single block never has both free and used blocks.
    if (shift == 0) return own(free_segments().claim_some(want, 0), tree);
    for (;;) {
      const std::uint64_t before = moves(tree).load(simt::order::acquire);
      blocks got = free_blocks(tree).claim_some(want, 0);
      if (got.bits != 0) return got;
      if (free_segments().any()) {
        // Relaxed: only a hint that avoids the atomic below.
        if (in_progress(moves(tree).load(simt::order::relaxed)) < segments_at_once) {
          const std::uint64_t others = moves(tree).fetch_add(begins, simt::order::relaxed);
          if (in_progress(others) < segments_at_once) got = format_segment(tree, want);
          moves(tree).fetch_add(ends, simt::order::release);
          if (got.bits != 0) return got;
        }
      } else if (in_progress(before) == 0 && moves(tree).load(simt::order::acquire) == before) {
        return {};  // no segment has moved between the look at the blocks and at the segments
      }
      simt::backoff(200);
    }
  }

  /// `block` starts a life with `capacity` units of the kind `unit`, none of them given back. The
  /// caller owns the block, and publishes it with release.
  /// \param in_slot whether the block is going to be in a slot
  WARPHEAP_DEVICE void open(std::uint32_t tree, std::uint32_t block, std::uint32_t unit,
                            std::uint32_t capacity, bool in_slot) const {
    // Release: see `units_left`. The slot that the block was in during its last life has lost it.
    counter(tree, block)
        .store(unit << unit_shift | capacity | (in_slot ? slot_flag : 0), simt::order::release);
  }
  /// A block in use has left its slot.
  WARPHEAP_DEVICE void leave_slot(std::uint32_t tree, std::uint32_t block) const {
    // Relaxed: the flag only says when searches must be told.
    counter(tree, block).fetch_and(~slot_flag, simt::order::relaxed);
  }

  /// Units of `block` that are handed out or still to be handed out.
  WARPHEAP_DEVICE std::uint32_t units_left(std::uint32_t tree, std::uint32_t block) const {
    // Acquire: pairs with the release in `give_back` and in `open`. A lane that finds units gone
    // that a retired block has given back, or the count of its next life, finds the slot as the
    // retiring lane has left it.
    return counter(tree, block).load(simt::order::acquire) & units_mask;
  }
  /// The same for a search that lanes share: see `gallatin_shortages`.
  WARPHEAP_DEVICE std::uint32_t examine_units_left(std::uint32_t tree, std::uint32_t block) const {
    return counter(tree, block).fetch_or(0, simt::order::acq_rel) & units_mask;
  }

  /// The kind of units that `block` was opened with.
  WARPHEAP_DEVICE std::uint32_t unit_of(std::uint32_t tree, std::uint32_t block) const {
    return (counter(tree, block).load(simt::order::relaxed) & ~slot_flag) >> unit_shift;
  }
  /// Whether `block` was opened for a slot, and has not left it.
  WARPHEAP_DEVICE bool is_in_slot(std::uint32_t tree, std::uint32_t block) const {
    return (counter(tree, block).load(simt::order::relaxed) & slot_flag) != 0;
  }

  /// Takes `count` units of `block` back. The last ones take the block with them, and a segment
  /// whose blocks are all free is free itself.
  WARPHEAP_DEVICE void give_back(std::uint32_t tree, std::uint32_t block,
                                 std::uint32_t count) const {
    // Acquire and release: what the users of all units did comes before what their next users do.
    // The chain goes on over the trees and the buffer.
    const std::uint32_t before = counter(tree, block).fetch_sub(count, simt::order::acq_rel);
    if ((before & units_mask) == count) {
      release_block(tree, block);
    } else if ((before & slot_flag) != 0) {
      shortages_.end_all();  // perhaps none of its units is in use now
    }
  }

  /// Takes the last `length` adjacent free segments and returns the first of them, or none. One
  /// lane at a time: two lanes that each held a part of what the other needs would both fail.
  /// \param busy set if another lane is doing so, and nothing was tried
  WARPHEAP_DEVICE std::uint32_t acquire_run(std::uint32_t length, bool& busy) const {
    const simt::atomic_ref lock(control_->run_lock);
    // Acquire and release order the holders; the holder never waits.
    busy = lock.exchange(1, simt::order::acquire) != 0;
    if (busy) return none;
    const std::uint32_t first = claim_announced_run(length);
    if (first != none) {
      for (std::uint32_t i = 1; i < length; ++i) set_kind(first + i, gallatin_segment::inside);
      set_kind(first, gallatin_segment::run(length));
    }
    lock.store(0, simt::order::release);
    return first;
  }

  WARPHEAP_DEVICE void release_run(std::uint32_t first, std::uint32_t length) const {
    // Written before they are free: then they belong to the lane that claims them.
    for (std::uint32_t i = 0; i < length; ++i) set_kind(first + i, gallatin_segment::free);
    insert_run(free_segments(), first, length);
    shortages_.end_all();
  }

  /// No lane moves a segment or holds the lock.
  WARPHEAP_DEVICE bool idle() const {
    bool quiet = control_->run_lock == 0 && in_progress(control_->run_claims) == 0;
    for (std::uint32_t tree = 0; tree < geometry::trees; ++tree)
      quiet = quiet && in_progress(control_->moves[tree].word) == 0;
    return quiet;
  }

 private:
  // Counted in words of `sync::moves`: moves of segments between the free segments and the blocks
  // of a tree; and, in a separate word, claims of runs of segments: a claim that takes the words of
  // the tree one after another and fails has hidden segments from all other lanes.
  static constexpr std::uint64_t begins = sync::moves::begins;
  static constexpr std::uint64_t ends = sync::moves::ends;
  // A block's counter: {in a slot:1 | unit:7 | units left:24}
  static constexpr std::uint32_t slot_flag = 0x80000000u;
  static constexpr int unit_shift = 24;
  static constexpr std::uint32_t units_mask = (1u << unit_shift) - 1;

  /// On lines of their own: in a mixed load, segments of all trees move at the same time.
  struct control {
    struct alignas(128) move_count {
      std::uint64_t word;
    };
    move_count moves[geometry::trees];
    alignas(128) std::uint64_t run_claims;
    std::uint32_t run_lock;
  };

  WARPHEAP_HD static constexpr std::uint32_t in_progress(std::uint64_t moves_word) {
    return sync::moves::in_progress(moves_word);
  }

  template <class Any>
  WARPHEAP_DEVICE bool obtainable(std::uint32_t tree, const Any& any) const {
    const std::uint64_t before = moves(tree).load(simt::order::acquire);
    const std::uint64_t runs_before = run_claims().load(simt::order::acquire);
    if (in_progress(before) != 0 || in_progress(runs_before) != 0 || any(free_blocks(tree)) ||
        any(free_segments())) {
      return true;
    }
    return moves(tree).load(simt::order::acquire) != before ||
           run_claims().load(simt::order::acquire) != runs_before;
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> run_claims() const {
    return simt::atomic_ref(control_->run_claims);
  }
  /// The last run of free segments. Repeated failures end when no run is seen any more: each failed
  /// claim has lost a segment to another lane.
  WARPHEAP_DEVICE std::uint32_t claim_announced_run(std::uint32_t length) const {
    for (;;) {
      const std::uint32_t top = find_last_run(free_segments(), length);
      if (top == none) return none;
      run_claims().fetch_add(begins, simt::order::relaxed);
      const bool claimed = claim_run(free_segments(), top + 1 - length, length);
      run_claims().fetch_add(ends, simt::order::release);
      if (claimed) return top + 1 - length;
    }
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> moves(std::uint32_t tree) const {
    return simt::atomic_ref(control_->moves[tree].word);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> counter(std::uint32_t tree,
                                                          std::uint32_t block) const {
    return simt::atomic_ref(counters_[geometry::counter_of(tree, block)]);
  }
  WARPHEAP_DEVICE void set_kind(std::uint32_t segment, std::uint32_t kind) const {
    memory_table_.set(segment, kind);
  }

  /// Segments become blocks of the last tree, which are as large.
  WARPHEAP_DEVICE blocks own(const blocks& segments, std::uint32_t tree) const {
    for (int i = 0; i < segments.count(); ++i) set_kind(segments.nth(i), tree);
    return segments;
  }

  /// Cuts a segment into blocks: up to `want` for the caller, the others for the tree.
  WARPHEAP_DEVICE blocks format_segment(std::uint32_t tree, int want) const {
    const std::uint32_t segment = free_segments().claim_first();
    if (segment == none) return {};
    set_kind(segment, tree);
    const int shift = geometry::blocks_shift_of(tree);
    const std::uint32_t first = segment << shift;
    const auto kept = static_cast<std::uint32_t>(want < (1 << shift) ? want : (1 << shift));
    if (kept < (1u << shift)) {
      insert_run(free_blocks(tree), first + kept, (1u << shift) - kept);
    }
    // A run of blocks that starts at a multiple of its length and is no longer than a word's bits,
    // as is the case for a group's requests, lies in one word.
    return {first / 64,
            bit_range<std::uint64_t>(static_cast<int>(first % 64), static_cast<int>(kept))};
  }

  /// `block` is free, and so is its segment if it was the last one in use there.
  WARPHEAP_DEVICE void release_block(std::uint32_t tree, std::uint32_t block) const {
    const int shift = geometry::blocks_shift_of(tree);
    const std::uint32_t segment = block >> shift;
    if (shift != 0 && !insert_and_claim_all(tree, block, segment << shift, 1u << shift)) {
      shortages_.end(tree);
      return;
    }
    // Before it is free: then it belongs to the lane that claims it.
    set_kind(segment, gallatin_segment::free);
    free_segments().insert(segment);
    shortages_.end_all();
    if (shift != 0) moves(tree).fetch_add(ends, simt::order::release);
  }

  /// Inserts a block among the `count` blocks of its segment, from `first` on. If that makes all of
  /// them free, and the caller is the one to claim them, they are the caller's, and it has a move
  /// to end: true.
  WARPHEAP_DEVICE bool insert_and_claim_all(std::uint32_t tree, std::uint32_t block,
                                            std::uint32_t first, std::uint32_t count) const {
    const bitmap_tree siblings = free_blocks(tree);
    const std::uint64_t bit = std::uint64_t{1} << (block % 64);
    const std::uint64_t word = siblings.insert_bits(block / 64, bit) | bit;
    const std::uint64_t all_in_word = bits_of_run(first, count, block / 64);
    if ((word & all_in_word) != all_in_word) return false;
    // Again after a claim that failed: a lane that gave the missing block back meanwhile has seen
    // some of the segment's blocks gone, and left the segment to this one.
    while (contains_run(siblings, first, count)) {
      moves(tree).fetch_add(begins, simt::order::relaxed);
      if (claim_run(siblings, first, count)) return true;
      moves(tree).fetch_add(ends, simt::order::release);
    }
    return false;
  }

  geometry shape_;
  control* control_ = nullptr;
  gallatin_shortages<Config> shortages_;
  gallatin_memory_table memory_table_;
  std::uint64_t* segment_words_ = nullptr;
  std::uint64_t* tree_words_ = nullptr;
  std::uint32_t* counters_ = nullptr;
  std::uint32_t tree_stride_ = 0;
};

WARPHEAP_END_NAMESPACE
