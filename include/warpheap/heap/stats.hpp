// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The state of a heap as the host sees it.

#include "warpheap/core/config.hpp"
#include "warpheap/heap/call_counts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE

struct heap_stats {
  /// Size of the region, metadata included.
  std::uint64_t heap_bytes = 0;
  std::uint64_t blocks_in_use = 0;
  /// Bytes that those blocks occupy.
  std::uint64_t bytes_in_use = 0;
  /// Requests that returned null because the heap was exhausted, since the heap was made or reset.
  std::uint64_t failures = 0;
  /// Bytes that one of the latest of them asked for.
  std::uint64_t last_failed_bytes = 0;
  /// Requests beyond `heap::largest_block()`, which no free memory makes possible.
  std::uint64_t impossible = 0;
  /// Bytes that one of the latest of them asked for.
  std::uint64_t last_impossible_bytes = 0;
  /// With the layer `counted` only.
  std::optional<call_counts> calls;
};

/// Which of a manager's numbered invariants do not hold.
struct validation {
  struct violation {
    int invariant;
    std::uint64_t times;
    /// Where, for one of them; the manager's header says what the number means.
    std::uint64_t place;
  };
  std::vector<violation> violations;

  bool ok() const { return violations.empty(); }
  /// One line for each violation.
  std::string describe() const {
    std::string text;
    for (const auto& v : violations) {
      text += "invariant I" + std::to_string(v.invariant) + " does not hold, " +
              std::to_string(v.times) + " times, for example at " + std::to_string(v.place) + "\n";
    }
    return text;
  }
};

WARPHEAP_END_NAMESPACE
