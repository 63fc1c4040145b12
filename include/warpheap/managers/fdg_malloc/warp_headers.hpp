// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The WarpHeaders of fdg_malloc.hpp: what a warp heap owns, and how its participants agree
/// on when to free it.

#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The current SuperBlock, how much of it is used, and whether a lane is about to put another one
/// in its place, in one word.
struct fdg_bump {
  std::uint32_t superblock;
  std::uint32_t used;  ///< granules
  bool is_replaced = false;

  static constexpr std::uint64_t nothing = 0;
  static constexpr std::uint64_t replaced = std::uint64_t{1} << 63;

  WARPHEAP_HD static constexpr fdg_bump of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word) - 1,
            static_cast<std::uint32_t>(word >> 32 & 0x7fffffff), (word & replaced) != 0};
  }
  WARPHEAP_HD constexpr std::uint64_t word() const {
    return (is_replaced ? replaced : 0) | std::uint64_t{used} << 32 | (superblock + 1);
  }
  WARPHEAP_HD constexpr bool is_set() const { return superblock != 0xffffffffu; }
};

/// How many participants there are, and how many have arrived at a tidy-up.
struct fdg_phase {
  std::uint32_t generation;
  std::uint32_t participants;
  std::uint32_t arrived;

  static constexpr std::uint64_t one_arrival = 1;
  static constexpr std::uint64_t one_participant = 1 << 16;

  WARPHEAP_HD static constexpr fdg_phase of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word >> 16 & 0xffff),
            static_cast<std::uint32_t>(word & 0xffff)};
  }
  WARPHEAP_HD constexpr std::uint64_t word() const {
    return std::uint64_t{generation} << 32 | std::uint64_t{participants} << 16 | arrived;
  }
};

struct alignas(32) fdg_header {
  std::uint64_t bump;
  std::uint64_t phase;
  std::uint32_t newest;
  std::uint32_t pieces;

  /// Puts a piece at the front of the list. Relaxed: the list is read only after the phase has
  /// ordered all participants before the reader.
  /// \param next of the piece
  WARPHEAP_DEVICE void push(std::uint32_t piece, std::uint32_t& next) {
    const simt::atomic_ref list(newest);
    std::uint32_t seen = list.load(simt::order::relaxed);
    do {
      next = seen;
    } while (!list.compare_exchange(seen, piece + 1, simt::order::relaxed));
    simt::atomic_ref(pieces).fetch_add(1, simt::order::relaxed);
  }

  // Release: what the participant did with the blocks comes before they are free. Acquire: the last
  // one frees for all of them.
  WARPHEAP_DEVICE std::uint64_t arrive() {
    return simt::atomic_ref(phase).fetch_add(fdg_phase::one_arrival, simt::order::acq_rel) +
           fdg_phase::one_arrival;
  }
  WARPHEAP_DEVICE std::uint64_t leave() {
    return simt::atomic_ref(phase).fetch_sub(fdg_phase::one_participant, simt::order::acq_rel) -
           fdg_phase::one_participant;
  }

  /// Ends: each participant that has not arrived yet arrives or leaves, and the last one frees
  /// without waiting. The header cannot be another warp heap's before the caller has left, too.
  WARPHEAP_DEVICE void wait_for_next_generation(std::uint64_t since) {
    const simt::atomic_ref now(phase);
    // Acquire: pairs with the release of `start_generation`.
    while (now.load(simt::order::acquire) >> 32 == since >> 32) simt::backoff(50);
  }

  /// The warp heap is empty, and none of its participants has arrived.
  WARPHEAP_DEVICE void start_generation(const fdg_phase& last) {
    empty();
    // Release: those that wait find the warp heap empty and its memory free.
    simt::atomic_ref(phase).store(fdg_phase{last.generation + 1, last.participants, 0}.word(),
                                  simt::order::release);
  }

  WARPHEAP_DEVICE void empty() {
    simt::atomic_ref(bump).store(fdg_bump::nothing, simt::order::relaxed);
    simt::atomic_ref(newest).store(0, simt::order::relaxed);
    simt::atomic_ref(pieces).store(0, simt::order::relaxed);
  }
};
static_assert(sizeof(fdg_header) == 32);

class fdg_headers {
 public:
  fdg_headers() = default;
  fdg_headers(region_cursor& cursor, std::uint32_t count)
      : tree_(cursor.take<std::uint64_t>(bitmap_tree::words_for(count), 128)),
        headers_(cursor.take<fdg_header>(count, 128)),
        count_(count) {}

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_DEVICE fdg_header& at(std::uint32_t number) const { return headers_[number - 1]; }
  WARPHEAP_DEVICE bitmap_tree free_ones() const { return bitmap_tree(tree_, count_); }
  WARPHEAP_DEVICE bool is_open(std::uint32_t number) const {
    return !free_ones().contains(number - 1);
  }

  /// The words of headers are written when they are opened.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t lanes) const {
    free_ones().format(count_, rank, lanes);
  }

  /// The number of a new warp heap, from 1; 0 if there can be no more.
  WARPHEAP_DEVICE std::uint32_t open(std::uint32_t participants,
                                     std::uint32_t multiprocessor) const {
    const bitmap_tree free = free_ones();
    const bitmap_tree::word_elements got = free.claim_some(1, multiprocessor % free.leaf_words());
    if (got.bits == 0) return 0;
    const std::uint32_t number = got.nth(0) + 1;
    fdg_header& mine = at(number);
    mine.empty();
    // Relaxed, like all of it: lanes learn of the header from the caller, which orders that.
    simt::atomic_ref(mine.phase).store(fdg_phase{0, participants, 0}.word(), simt::order::relaxed);
    return number;
  }

  /// The tree orders this warp heap before the next one of that number.
  WARPHEAP_DEVICE void close(std::uint32_t number) const { free_ones().insert(number - 1); }

 private:
  std::uint64_t* tree_ = nullptr;
  fdg_header* headers_ = nullptr;
  std::uint32_t count_ = 0;
};

WARPHEAP_END_NAMESPACE
