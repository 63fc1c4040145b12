// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

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

  /// Sums: a peak becomes the sum of peaks, which may have been at different times. Which of two
  /// last failures came later is unknown: this one's is kept unless it had none.
  pool_stats& operator+=(const pool_stats& other) {
    if (failures == 0) last_failed_bytes = other.last_failed_bytes;
    for (const auto field : sums) this->*field += other.*field;
    return *this;
  }

 private:
  using base = warpheap_pool_stats;
  static constexpr std::uint64_t base::*sums[] = {
      &base::bytes_in_use,        &base::peak_bytes,    &base::blocks,        &base::peak_blocks,
      &base::allocations,         &base::deallocations, &base::failures,      &base::reserved_bytes,
      &base::peak_reserved_bytes, &base::regions,       &base::pending_bytes, &base::pending_blocks,
      &base::moved_bytes};
  static_assert(sizeof(base) == (std::size(sums) + 1) * sizeof(std::uint64_t),
                "every field but last_failed_bytes is a sum");
};

}  // namespace warpheap::host
