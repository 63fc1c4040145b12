// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Why a request was not served.
enum class failure_reason {
  exhausted,   ///< no room for it now
  impossible,  ///< larger than `largest_block()`: never served, however empty the heap is
};

/// What the handle of a heap counts in device memory: only requests that were not served, so that a
/// call that succeeds costs no more than the manager's own work.
struct failure_counts {
  /// A part of a count, in a cache line of its own, so that a million lanes that fail do not queue
  /// up at one address.
  struct alignas(128) part {
    std::uint64_t requests = 0;
  };
  struct kind {
    static constexpr std::uint32_t parts = 16;
    part counted[parts];
    std::uint64_t last_bytes = 0;

    WARPHEAP_HD std::uint64_t requests() const {
      std::uint64_t sum = 0;
      for (const part& one : counted) sum += one.requests;
      return sum;
    }
  };
  /// The heap was exhausted.
  kind exhausted;
  /// Larger than the largest block.
  kind impossible;
};

WARPHEAP_END_NAMESPACE
