// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/heap/manager.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

WARPHEAP_BEGIN_NAMESPACE

/// Offers blocks, which any lane takes, over a manager of warp heaps: each warp of a grid gets a
/// warp heap at its first malloc and keeps it until the heap is reset. Blocks cannot be freed. For
/// comparisons with managers of blocks: a warp heap for each malloc would measure something else.
///
/// Layout: [ entries: { warp + 1: u64 | its warp heap: u64 } ][ the manager's region ]. A warp's
/// entry is one of `reach` behind the one that its number hashes to, in every launch the same.
///
/// Progress: lock-free. Lanes of a warp that come to their entry in several branches each make a
/// warp heap; one of them stays, and the others are ended. Null also if all entries in reach are
/// other warps'; there is one for each 2 KiB of the heap.
template <warp_heap_manager M>
class warp_heaps_as_blocks {
 public:
  using options = typename M::options;
  using warp_heap = typename M::warp_heap;

  static constexpr capabilities about = [] {
    capabilities inner = M::about;
    inner.frees = false;
    inner.reuse = memory_reuse::none;
    return inner;
  }();

  warp_heaps_as_blocks(const region& memory, const simt::device_properties& machine,
                       const options& settings)
      : entry_shift_(floor_log2(memory.bytes / 2048 | reach)),
        entries_(
            region_cursor(memory, about.name).template take<entry>(std::size_t{1} << entry_shift_)),
        inner_(behind(memory), machine, settings) {}

  WARPHEAP_HD std::size_t largest_block() const { return inner_.largest_block(); }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i >> entry_shift_ == 0; i += count) entries_[i] = {0, none()};
    inner_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const warp_heap mine = own(simt::coalesced(entries_));
    return mine ? inner_.malloc(mine, bytes) : nullptr;
  }

  WARPHEAP_DEVICE void free(void* block) const { WARPHEAP_ASSERT(block != nullptr); }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    inner_.inspect(rank, count, findings);
  }

 private:
  struct entry {
    std::uint64_t owner;
    std::uint64_t heap;
  };
  static constexpr std::uint64_t reach = 64;

  region behind(const region& memory) const {
    auto* start = reinterpret_cast<std::byte*>(entries_ + (std::size_t{1} << entry_shift_));
    return {start, memory.bytes - static_cast<std::size_t>(start - memory.base)};
  }

  WARPHEAP_DEVICE static std::uint64_t word_of(warp_heap heap) {
    std::uint64_t word = 0;
    std::memcpy(&word, &heap, sizeof heap);
    return word;
  }
  WARPHEAP_DEVICE static warp_heap heap_of(std::uint64_t word) {
    warp_heap heap;
    std::memcpy(static_cast<void*>(&heap), &word, sizeof heap);
    return heap;
  }
  WARPHEAP_DEVICE static std::uint64_t none() { return word_of(warp_heap{}); }

  /// The entry of the calling warp, created if missing; null if the search finds no place for it.
  WARPHEAP_DEVICE entry* own_entry() const {
    const std::uint64_t warp = simt::warp_rank();
    const std::uint64_t mask = low_bits<std::uint64_t>(entry_shift_);
    for (std::uint64_t i = 0; i < reach; ++i) {
      entry& there = entries_[(mix64(warp) + i) & mask];
      const simt::atomic_ref owner(there.owner);
      // Relaxed: what the word says is all that it stands for.
      std::uint64_t seen = owner.load(simt::order::relaxed);
      if (seen == 0 && owner.compare_exchange(seen, warp + 1, simt::order::relaxed)) return &there;
      if (seen == warp + 1) return &there;
    }
    return nullptr;
  }

  /// The warp's heap, or none. A collective.
  WARPHEAP_DEVICE warp_heap own(const simt::group& together) const {
    std::uint64_t word = none();
    entry* mine = nullptr;
    if (together.is_leader()) {
      mine = own_entry();
      // Acquire: pairs with the release of the lane that has made it.
      if (mine != nullptr) word = simt::atomic_ref(mine->heap).load(simt::order::acquire);
    }
    together.sync();  // what the leader has acquired is the members' as well
    word = together.broadcast(word);
    if (heap_of(word) || !together.any(mine != nullptr)) return heap_of(word);
    const warp_heap made = inner_.begin(together);
    if (!made) return made;
    if (together.is_leader()) {
      std::uint64_t seen = none();
      const bool stays =
          simt::atomic_ref(mine->heap).compare_exchange(seen, word_of(made), simt::order::acq_rel);
      word = stays ? word_of(made) : seen;
    }
    together.sync();
    word = together.broadcast(word);
    if (word != word_of(made)) inner_.end(made);
    return heap_of(word);
  }

  int entry_shift_;
  entry* entries_;
  M inner_;
};

WARPHEAP_END_NAMESPACE
