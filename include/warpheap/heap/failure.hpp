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
  struct kind {
    std::uint64_t requests = 0;
    std::uint64_t last_bytes = 0;
  };
  /// The heap was exhausted.
  kind exhausted;
  /// Larger than the largest block.
  kind impossible;
};

WARPHEAP_END_NAMESPACE
