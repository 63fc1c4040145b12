// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/contracts/manager.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

/// Lanes of a warp create their own heap, allocate from it, and free everything at once.
/// `M::warp_heap` names such a heap: it has at most eight bytes, is false if there is no heap, and
/// may be stored and used by a later launch. The participants are the lanes that created the heap;
/// in a later launch, as many lanes as have not ended it yet take their place.
///
/// - `begin(group)`: a collective of the group, whose lanes become the participants: all get the
///   same warp heap, or all get none if the heap is exhausted;
/// - `malloc(heap, bytes)`: a block aligned to `about.alignment`, or null if the heap is exhausted.
///   Called by any participants, together or not. \pre `0 < bytes && bytes <= largest_block()`
/// - `tidy_up(heap)`: called once by each participant that has not ended the heap: frees all of its
///   blocks; the heap stays. Returns when they are free, so participants wait for each other here;
/// - `end(heap)`: called once by each participant; the last call frees the heap and its blocks.
///   Returns at once; no lane waits for a participant that ended the heap.
///
/// An empty handle of a warp heap never reaches the manager.
template <class M>
concept warp_heap_manager = manager<M> && std::is_trivially_copyable_v<typename M::warp_heap> &&
                                sizeof(typename M::warp_heap) <= 8 &&
                            requires(const M m, const simt::group& lanes,
                                     const typename M::warp_heap of, std::size_t bytes) {
  { m.begin(lanes) } -> std::same_as<typename M::warp_heap>;
  {static_cast<bool>(of)};
  { m.malloc(of, bytes) } -> std::same_as<void*>;
  m.tidy_up(of);
  m.end(of);
};

/// `Opened` is what `M`, a manager of warp heaps, opens for a warp.
template <class Opened, class M>
concept warp_heap_of = warp_heap_manager<M> && std::same_as<Opened, typename M::warp_heap>;

WARPHEAP_END_NAMESPACE
