// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's blocks (managers/gallatin/gallatin.hpp explains them): which are free, and how many
/// units of the others are not yet given back.

#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/gallatin/geometry.hpp"
#include "warpheap/managers/gallatin/segments.hpp"
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
  using segment_store = gallatin_segments<Config>;
  using blocks = bitmap_tree::word_elements;

  /// What a block's counter says besides how many units are left: the unit, or this.
  static constexpr std::uint32_t whole_block = 127;

  gallatin_blocks() = default;
  gallatin_blocks(const geometry& shape, region_cursor& cursor) : segments_(shape, cursor) {
    tree_stride_ = static_cast<std::uint32_t>(round_up<std::size_t>(
        bitmap_tree::words_for(shape.segments() << geometry::blocks_shift), 16));
    tree_words_ = cursor.take<std::uint64_t>(std::size_t{tree_stride_} * geometry::trees, 128);
    counters_ =
        cursor.take<std::uint32_t>(std::size_t{shape.segments()} << geometry::blocks_shift, 128);
  }

  WARPHEAP_HD const segment_store& segments() const { return segments_; }
  WARPHEAP_HD geometry shape() const { return segments_.shape(); }
  WARPHEAP_HD const gallatin_shortages<Config>& shortages() const { return segments_.shortages(); }

  /// The free blocks of all segments that belong to `tree`.
  WARPHEAP_DEVICE bitmap_tree free_blocks(std::uint32_t tree) const {
    return bitmap_tree(tree_words_ + std::size_t{tree} * tree_stride_,
                       shape().segments() << geometry::blocks_shift_of(tree));
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    segments_.format(rank, count);
    for (std::uint32_t tree = 0; tree < geometry::trees; ++tree) {
      free_blocks(tree).format(0, rank, count);
    }
    const std::uint64_t counters = std::uint64_t{shape().segments()} << geometry::blocks_shift;
    for (std::uint64_t i = rank; i < counters; i += count) counters_[i] = 0;
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
    if (shift == 0) return own(segments_.free_segments().claim_some(want, 0), tree);
    for (;;) {
      const std::uint64_t before = segments_.moves(tree).load(simt::order::acquire);
      blocks got = free_blocks(tree).claim_some(want, 0);
      if (got.bits != 0) return got;
      if (segments_.free_segments().any()) {
        // Relaxed: only a hint that avoids the atomic below.
        const std::uint64_t now = segments_.moves(tree).load(simt::order::relaxed);
        if (sync::moves::in_progress(now) < segments_at_once) {
          if (segments_.begin_move(tree) < segments_at_once) got = format_segment(tree, want);
          segments_.end_move(tree);
          if (got.bits != 0) return got;
        }
      } else if (sync::moves::in_progress(before) == 0 &&
                 segments_.moves(tree).load(simt::order::acquire) == before) {
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
      shortages().end_all();  // perhaps none of its units is in use now
    }
  }

 private:
  // A block's counter: {in a slot:1 | unit:7 | units left:24}
  static constexpr std::uint32_t slot_flag = 0x80000000u;
  static constexpr int unit_shift = 24;
  static constexpr std::uint32_t units_mask = (1u << unit_shift) - 1;

  template <class Any>
  WARPHEAP_DEVICE bool obtainable(std::uint32_t tree, const Any& any) const {
    const auto before = segments_.announced(tree);
    if (before.in_progress() || any(free_blocks(tree)) || any(segments_.free_segments())) {
      return true;
    }
    return segments_.announced_since(before, tree);
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> counter(std::uint32_t tree,
                                                          std::uint32_t block) const {
    return simt::atomic_ref(counters_[geometry::counter_of(tree, block)]);
  }

  /// Segments become blocks of the last tree, which are as large.
  WARPHEAP_DEVICE blocks own(const blocks& claimed, std::uint32_t tree) const {
    for (int i = 0; i < claimed.count(); ++i) segments_.set_kind(claimed.nth(i), tree);
    return claimed;
  }

  /// Cuts a segment into blocks: up to `want` for the caller, the others for the tree.
  WARPHEAP_DEVICE blocks format_segment(std::uint32_t tree, int want) const {
    const std::uint32_t segment = segments_.free_segments().claim_first();
    if (segment == segment_store::none) return {};
    segments_.set_kind(segment, tree);
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
      shortages().end(tree);
      return;
    }
    segments_.release(segment);
    if (shift != 0) segments_.end_move(tree);
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
      segments_.begin_move(tree);
      if (claim_run(siblings, first, count)) return true;
      segments_.end_move(tree);
    }
    return false;
  }

  segment_store segments_;
  std::uint64_t* tree_words_ = nullptr;
  std::uint32_t* counters_ = nullptr;
  std::uint32_t tree_stride_ = 0;
};

WARPHEAP_END_NAMESPACE
