// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where the warp heaps of fdg_malloc.hpp get SuperBlocks from: one, or several in a row for a
/// request that is larger than one. What is taken together is a piece.
///
/// A claim of a run that spans leaf words of the tree hides what it has taken and may put back. So
/// it is announced, as `sync::moves` explains, and a search that finds nothing begins again if
/// there was such a claim.

#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/exhaustion.hpp"
#include "warpheap/sync/moves.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The piece that begins with a SuperBlock. Plain words: they belong to the warp heap that has the
/// piece, whose participants order their accesses by its phase; the tree of free SuperBlocks orders
/// one owner before the next.
struct fdg_piece {
  /// SuperBlocks; 0 if no piece begins here.
  std::uint32_t length;
  /// Number of the warp heap, from 1.
  std::uint32_t owner;
  /// The piece that this warp heap took before, plus 1; 0 if this is its first.
  std::uint32_t next;
};

class fdg_superblocks {
 public:
  static constexpr std::uint32_t none = bitmap_tree::none;
  /// What a bitmap tree can hold at most.
  static constexpr std::uint32_t most = 1u << 31;

  fdg_superblocks() = default;
  fdg_superblocks(region_cursor& cursor, std::uint32_t count)
      : control_(cursor.take<control>(1, 128)),
        tree_(cursor.take<std::uint64_t>(bitmap_tree::words_for(count), 128)),
        pieces_(cursor.take<fdg_piece>(count, 16)),
        count_(count) {}

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_DEVICE fdg_piece& piece(std::uint32_t first) const { return pieces_[first]; }
  WARPHEAP_DEVICE bitmap_tree free_ones() const { return bitmap_tree(tree_, count_); }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t lanes) const {
    if (rank == 0) {
      control_->runs.format();
      control_->claims = 0;
    }
    free_ones().format(count_, rank, lanes);
    for (std::uint64_t i = rank; i < count_; i += lanes) pieces_[i] = {0, 0, 0};
  }

  /// A SuperBlock, or none if `free_ones` was empty at a moment of the call. Each multiprocessor
  /// looks from a leaf word of its own on, so that few meet and the rest of the heap stays in one
  /// piece.
  WARPHEAP_DEVICE std::uint32_t take_one(std::uint32_t multiprocessor) const {
    const bitmap_tree free = free_ones();
    const bitmap_tree::word_elements got = free.claim_some(1, multiprocessor % free.leaf_words());
    return got.bits == 0 ? none : got.nth(0);
  }

  /// Only as reliable as the tree's hints.
  WARPHEAP_DEVICE bool seem_empty() const { return !free_ones().peek_any(); }

  /// To be read before a search.
  WARPHEAP_DEVICE std::uint64_t claims() const {
    return sync::moves::look(simt::atomic_ref(control_->claims));
  }
  /// Whether a search that began after `before` was read, and found nothing, may have missed
  /// something that a claim put back.
  WARPHEAP_DEVICE bool claimed_since(std::uint64_t before) const {
    return sync::moves::in_progress(before) != 0 || claims() != before;
  }
  /// Ends: lanes whose claims are announced wait for nothing; they may be of the caller's warp.
  WARPHEAP_DEVICE static void wait_for_claims() { simt::backoff(64); }

  /// The first of `length` SuperBlocks in a row; none if there were none at a moment of the call at
  /// which no claim had taken any that it put back. Ends: each turn but the last one means that
  /// another lane has taken or released SuperBlocks, or is about to end a claim.
  WARPHEAP_DEVICE std::uint32_t take_run(std::uint32_t length) const {
    // What is confirmed for `most_units` must hold for all requests for that many or more.
    const bool can_be_out = length <= exhaustion::most_units;
    while (!can_be_out || !control_->runs.is_out(length)) {
      const exhaustion::token search = control_->runs.announce();
      // Pairs with the fence in `released`: either this search sees what is free there, or the
      // lane there sees the announcement and withdraws what this search confirms.
      simt::fence(simt::order::seq_cst);
      const std::uint64_t before = claims();
      const std::uint32_t last = find_last_run(free_ones(), length);
      if (last != none) {
        const std::uint32_t first = last + 1 - length;
        if (claim(first, length)) return first;
      } else if (claimed_since(before)) {
        wait_for_claims();
      } else if (!can_be_out || control_->runs.confirm(search, length)) {
        return none;
      }
    }
    return none;
  }

  WARPHEAP_DEVICE void release(std::uint32_t first, std::uint32_t length) const {
    pieces_[first].length = 0;
    insert_run(free_ones(), first, length);
  }
  /// Must be called after SuperBlocks of a warp heap have become free, once for all of them. Not
  /// after a claim has put some back: no search confirms anything while a claim has taken them.
  WARPHEAP_DEVICE void released() const {
    simt::fence(simt::order::seq_cst);  // pairs with the one in `take_run`
    control_->runs.released();
  }

  /// No lane has announced a claim.
  WARPHEAP_DEVICE bool idle() const { return sync::moves::in_progress(control_->claims) == 0; }

 private:
  struct control {
    exhaustion runs;
    /// A `sync::moves` word.
    std::uint64_t claims;
  };

  /// A run within a leaf word is taken at once or not at all: it hides nothing.
  WARPHEAP_DEVICE bool claim(std::uint32_t first, std::uint32_t length) const {
    if (first / 64 == (first + length - 1) / 64) return claim_run(free_ones(), first, length);
    const simt::atomic_ref announced(control_->claims);
    sync::moves::announce(announced);
    const bool claimed = claim_run(free_ones(), first, length);
    if (claimed) {
      // Relaxed: nothing was put back that a search would have to see.
      announced.fetch_add(sync::moves::ends_for_good, simt::order::relaxed);
    } else {
      sync::moves::conclude(announced);
    }
    return claimed;
  }

  control* control_ = nullptr;
  std::uint64_t* tree_ = nullptr;
  fdg_piece* pieces_ = nullptr;
  std::uint32_t count_ = 0;
};

WARPHEAP_END_NAMESPACE
