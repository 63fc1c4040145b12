// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Gallatin's segments (managers/gallatin/gallatin.hpp explains them): which are free, what each of
/// the others is used for, which are on their way, and runs of adjacent ones.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/gallatin/geometry.hpp"
#include "warpheap/managers/gallatin/memory_table.hpp"
#include "warpheap/managers/gallatin/shortages.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/moves.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

template <gallatin_config Config>
class gallatin_segments {
 public:
  using geometry = gallatin_geometry<Config>;
  static constexpr std::uint32_t none = bitmap_tree::none;

  gallatin_segments() = default;
  gallatin_segments(const geometry& shape, region_cursor& cursor) : shape_(shape) {
    control_ = cursor.take<control>(1, alignof(control));
    shortages_ = gallatin_shortages<Config>(cursor);
    memory_table_ = gallatin_memory_table(cursor, shape.segments());
    words_ = cursor.take<std::uint64_t>(bitmap_tree::words_for(shape.segments()), 128);
  }

  WARPHEAP_HD geometry shape() const { return shape_; }
  WARPHEAP_HD const gallatin_shortages<Config>& shortages() const { return shortages_; }

  WARPHEAP_DEVICE bitmap_tree free_segments() const {
    return bitmap_tree(words_, shape_.segments());
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    free_segments().format(free_segments().universe(), rank, count);
    if (rank == 0) {
      for (auto& of_tree : control_->moves) of_tree.word = 0;
      control_->run_lock = 0;
      control_->run_claims = 0;
    }
    shortages_.format(rank, count);
    memory_table_.format(shape_.segments(), rank, count);
  }

  WARPHEAP_DEVICE std::uint32_t kind(std::uint32_t segment) const {
    return memory_table_.kind(segment);
  }
  /// \pre the caller owns the segment. It writes `free` before the segment is free: then the
  /// segment belongs to the lane that claims it.
  WARPHEAP_DEVICE void set_kind(std::uint32_t segment, std::uint32_t kind) const {
    memory_table_.set(segment, kind);
  }

  /// Moves of segments between the free ones and the blocks of `tree`: see `sync::moves`.
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> moves(std::uint32_t tree) const {
    return simt::atomic_ref(control_->moves[tree].word);
  }
  /// Returns how many were on their way before.
  WARPHEAP_DEVICE std::uint32_t begin_move(std::uint32_t tree) const {
    return sync::moves::in_progress(sync::moves::announce(moves(tree)));
  }
  WARPHEAP_DEVICE void end_move(std::uint32_t tree) const { sync::moves::conclude(moves(tree)); }

  /// What hides segments from a search for free ones and for blocks of a tree: they are on their
  /// way between these, or a run is being claimed, which may fail and put them back.
  struct announcements {
    std::uint64_t moves;
    std::uint64_t run_claims;

    WARPHEAP_HD constexpr bool in_progress() const {
      return sync::moves::in_progress(moves) != 0 || sync::moves::in_progress(run_claims) != 0;
    }
  };
  WARPHEAP_DEVICE announcements announced(std::uint32_t tree) const {
    return {sync::moves::look(moves(tree)), sync::moves::look(run_claims())};
  }
  /// Whether there was one since `before`.
  WARPHEAP_DEVICE bool announced_since(const announcements& before, std::uint32_t tree) const {
    return moves(tree).load(simt::order::acquire) != before.moves ||
           run_claims().load(simt::order::acquire) != before.run_claims;
  }

  /// \pre the segment is not of a run
  WARPHEAP_DEVICE void release(std::uint32_t segment) const {
    set_kind(segment, gallatin_segment::free);
    free_segments().insert(segment);
    shortages_.end_all();
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
    for (std::uint32_t i = 0; i < length; ++i) set_kind(first + i, gallatin_segment::free);
    insert_run(free_segments(), first, length);
    shortages_.end_all();
  }

  /// No lane moves a segment or holds the lock.
  WARPHEAP_DEVICE bool idle() const {
    bool quiet = control_->run_lock == 0 && sync::moves::in_progress(control_->run_claims) == 0;
    for (std::uint32_t tree = 0; tree < geometry::trees; ++tree)
      quiet = quiet && sync::moves::in_progress(control_->moves[tree].word) == 0;
    return quiet;
  }

 private:
  /// On lines of their own: in a mixed load, segments of all trees move at the same time.
  struct control {
    struct alignas(128) move_count {
      std::uint64_t word;
    };
    move_count moves[geometry::trees];
    /// Counted like moves, in a separate word: a claim that takes the words of the tree one after
    /// another and fails has hidden segments from all other lanes.
    alignas(128) std::uint64_t run_claims;
    std::uint32_t run_lock;
  };

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> run_claims() const {
    return simt::atomic_ref(control_->run_claims);
  }
  /// The last run of free segments. Repeated failures end when no run is seen any more: each failed
  /// claim has lost a segment to another lane.
  WARPHEAP_DEVICE std::uint32_t claim_announced_run(std::uint32_t length) const {
    for (;;) {
      const std::uint32_t top = find_last_run(free_segments(), length);
      if (top == none) return none;
      sync::moves::announce(run_claims());
      const bool claimed = claim_run(free_segments(), top + 1 - length, length);
      sync::moves::conclude(run_claims());
      if (claimed) return top + 1 - length;
    }
  }

  geometry shape_;
  control* control_ = nullptr;
  gallatin_shortages<Config> shortages_;
  gallatin_memory_table memory_table_;
  std::uint64_t* words_ = nullptr;
};

WARPHEAP_END_NAMESPACE
