// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Why a request was not served.
enum class failure_reason {
  exhausted,   ///< no room for it now
  impossible,  ///< too large, or too widely aligned: never served, however empty the heap is
};

/// What the handle of a heap counts in device memory: only requests that were not served, so that a
/// call that succeeds costs no more than the manager's own work.
struct failure_counts {
  static constexpr int reasons = 2;
  static constexpr std::uint32_t parts = 16;
  static constexpr int line_words = 128 / 8;
  /// A part of the counts, in a cache line of its own, so that a million lanes that fail do not
  /// queue up at one address. A launch mostly fails for one reason, so both share the line. Lines
  /// have no padding: the host copies all of them, and nothing that was never written.
  struct alignas(128) part {
    std::uint64_t requests[reasons] = {};
    std::uint64_t unused[line_words - reasons] = {};
  };
  part counted[parts];
  std::uint64_t last_bytes[reasons] = {};
  std::uint64_t unused[line_words - reasons] = {};

  WARPHEAP_HD std::uint64_t requests(failure_reason why) const {
    std::uint64_t sum = 0;
    for (const part& one : counted) sum += one.requests[static_cast<int>(why)];
    return sum;
  }
  WARPHEAP_HD std::uint64_t last(failure_reason why) const {
    return last_bytes[static_cast<int>(why)];
  }
};

WARPHEAP_END_NAMESPACE
