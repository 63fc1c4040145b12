// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include "warpheap/host/c/pool_stats.h"

namespace warpheap::host {

/// The statistics of a pool (the fields are in c/pool_stats.h), and how they change.
struct pool_stats : warpheap_pool_stats {
  pool_stats() : warpheap_pool_stats{} {}

  void allocated(std::size_t bytes) {
    ++allocations;
    bytes_in_use += bytes;
    peak_bytes = std::max(peak_bytes, bytes_in_use);
    peak_blocks = std::max(peak_blocks, ++blocks);
  }
  void deallocated(std::size_t bytes) {
    ++deallocations;
    bytes_in_use -= bytes;
    --blocks;
  }
  void failed(std::size_t bytes) {
    ++failures;
    last_failed_bytes = bytes;
  }
  /// Adds what a part of a pool has done and holds, except its failures: another part may have
  /// served the request. Peaks become the sums of the parts' peaks, which may be of different
  /// times.
  void add(const pool_stats& part) {
    static_assert(sizeof(warpheap_pool_stats) == 14 * sizeof(uint64_t), "add has every field");
    bytes_in_use += part.bytes_in_use;
    peak_bytes += part.peak_bytes;
    blocks += part.blocks;
    peak_blocks += part.peak_blocks;
    allocations += part.allocations;
    deallocations += part.deallocations;
    reserved_bytes += part.reserved_bytes;
    peak_reserved_bytes += part.peak_reserved_bytes;
    regions += part.regions;
    pending_bytes += part.pending_bytes;
    pending_blocks += part.pending_blocks;
    moved_bytes += part.moved_bytes;
  }
};

}  // namespace warpheap::host
