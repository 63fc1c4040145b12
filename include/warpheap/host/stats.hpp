// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpheap::host {

/// What a pool has done and holds. Sizes are in bytes, as handed out: a policy rounds a request up
/// to a granule or to a size of its own, and the whole of that is unavailable to others.
struct pool_stats {
  std::size_t bytes_in_use = 0;
  std::size_t peak_bytes = 0;  ///< the most of `bytes_in_use` since the pool was made
  std::size_t blocks = 0;      ///< blocks handed out and not freed
  std::size_t peak_blocks = 0;
  std::uint64_t allocations = 0;
  std::uint64_t deallocations = 0;
  std::uint64_t failures = 0;         ///< requests answered with "out of memory"
  std::size_t last_failed_bytes = 0;  ///< the size of the last one of these
  std::size_t reserved_bytes = 0;     ///< taken from the upstream
  std::size_t peak_reserved_bytes = 0;
  std::size_t regions = 0;        ///< upstream blocks held
  std::size_t pending_bytes = 0;  ///< freed, and not yet known to be unused by their stream
  std::size_t pending_blocks = 0;
  std::size_t moved_bytes = 0;  ///< of pages that went from holes to where a request fits

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
