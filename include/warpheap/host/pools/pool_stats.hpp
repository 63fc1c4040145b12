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
};

}  // namespace warpheap::host
