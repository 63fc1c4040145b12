// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "warpheap/core/bits.hpp"
#include "warpheap/core/error.hpp"

namespace warpheap::host {

/// How a pool takes memory from its upstream. All sizes are in bytes.
struct pool_options {
  /// Taken when the pool is created; 0 takes nothing until the first request.
  std::size_t initial_bytes = 0;
  /// The most that is held at any time, including the padding of regions.
  std::size_t limit_bytes = std::numeric_limits<std::size_t>::max();
  /// The smallest region that is taken when the pool grows. If the upstream or the policy cannot
  /// extend a region, the next one is also, as far as the limit and the upstream allow, as large as
  /// what the pool holds, but at most 64 MiB or a quarter of what it holds, whichever is more.
  std::size_t region_bytes = std::size_t{2} << 20;
  /// The sizes and addresses of all blocks are multiples of it: a power of two from 16 up.
  std::size_t granule_bytes = 256;
  /// For upstreams whose pages are no smaller than a granule: the bytes that the pool may hold
  /// beyond the most that was in use at once, in percent of that, but at least `region_bytes`; 0
  /// means the policy's own value. Before the pool takes more, the whole pages of its holes move to
  /// where the request fits, unless pages have already moved too often. A move waits for the
  /// streams, and never happens in a stream that is being captured into a graph.
  std::size_t spare_percent = 0;

  /// Enough for "never"; more would overflow.
  static constexpr std::size_t most_spare_percent = 1'000'000;
};

/// \throws invalid_argument for an option out of range
inline pool_options checked(pool_options options) {
  if (options.granule_bytes < 16 || !is_power_of_two(options.granule_bytes)) {
    throw invalid_argument("a granule of " + std::to_string(options.granule_bytes) +
                           " bytes: it must be a power of two, 16 or more");
  }
  if (options.region_bytes == 0) {
    throw invalid_argument("a pool cannot grow by regions of 0 bytes");
  }
  if (options.initial_bytes > options.limit_bytes) {
    throw invalid_argument("a pool cannot start with " + std::to_string(options.initial_bytes) +
                           " bytes under a limit of " + std::to_string(options.limit_bytes));
  }
  if (options.spare_percent > pool_options::most_spare_percent) {
    throw invalid_argument("a spare share of " + std::to_string(options.spare_percent) +
                           " percent: at most " + std::to_string(pool_options::most_spare_percent));
  }
  return options;
}

}  // namespace warpheap::host
