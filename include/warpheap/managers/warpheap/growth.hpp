// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/contracts/growth.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Adds the next `chunks` of the reserve to a heap of the manager `warpheap`, while lanes use it. A
/// collective.
///
/// The leader takes the chunks from the reserve, the members write what describes them, and then
/// the leader puts them into the pool. No search reads a limit: chunks that are not in the pool are
/// not found, and those in it were put there with release and are claimed with acquire. So this
/// costs requests nothing.
///
/// Null: a request that finds the heap out of chunks has announced its search, and has then looked
/// at the pool by a read-modify-write; the leader also puts chunks there by one. If the request's
/// comes later, it sees them. If the leader's comes later, the leader has acquired the
/// announcement, and withdraws what was confirmed or is about to be; a request that already has its
/// confirmation comes before the growth. The same holds for a request for a run that has already
/// passed the place, because it began before this ends.
///
/// Progress: lock-free. The loop repeats only if another growth has taken chunks in the meantime.
/// Growths may end in a different order than they began.
template <warpheap_config Config>
WARPHEAP_DEVICE growth_outcome warpheap_grow(const warpheap_supply<Config>& heap,
                                             const simt::group& together, std::uint32_t chunks) {
  std::uint32_t first = warpheap_supply<Config>::none;
  if (together.is_leader()) {
    const simt::atomic_ref backed(heap.whole().backed);
    std::uint32_t now = backed.load(simt::order::relaxed);
    while (chunks <= heap.universe() - now) {
      if (backed.compare_exchange(now, now + chunks, simt::order::relaxed)) {
        first = now;
        break;
      }
    }
  }
  together.sync();
  first = together.broadcast(first);
  if (first == warpheap_supply<Config>::none) return growth_outcome::no_reserve;
  const auto rank = static_cast<std::uint32_t>(together.rank());
  const auto members = static_cast<std::uint32_t>(together.size());
  heap.chunks().close_new(first, chunks, rank, members);
  together.sync();  // what the members wrote comes before what the leader releases
  if (together.is_leader()) {
    insert_run(heap.pool(), first, chunks);
    heap.released();
  }
  together.sync();
  return growth_outcome::grown;
}

WARPHEAP_END_NAMESPACE
