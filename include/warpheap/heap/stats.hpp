// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The state of a heap as the host sees it. The same for all models of a machine, so that host code
/// may pass it on, whatever compiled it.

#include "warpheap/core/count_of.hpp"
#include "warpheap/heap/call_counts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpheap {

/// Blocks in use of more than `most_bytes / 2` and at most `most_bytes` bytes.
struct blocks_of_size {
  std::uint64_t most_bytes = 0;
  std::uint64_t blocks = 0;
  /// Bytes that they occupy.
  std::uint64_t bytes = 0;
};

struct heap_stats {
  /// Size of the region, including metadata but not the part that is not memory yet.
  std::uint64_t heap_bytes = 0;
  /// Bytes of the largest request that the heap serves when it is empty.
  std::uint64_t largest_block = 0;
  /// The same once the heap has grown to its whole region.
  std::uint64_t largest_ever = 0;
  std::uint64_t blocks_in_use = 0;
  /// Bytes that those blocks occupy.
  std::uint64_t bytes_in_use = 0;
  /// The same by powers of two, small blocks first. If a manager knows only how much several
  /// neighbours occupy together, they count with their average size.
  std::vector<blocks_of_size> in_use;
  /// Requests that returned null because the heap was exhausted, since the heap was made or reset.
  std::uint64_t failures = 0;
  /// The size, in bytes, of one of the latest of these requests.
  std::uint64_t last_failed_bytes = 0;
  /// Requests that no amount of free memory makes possible: beyond `largest_ever`, or of an
  /// alignment that the heap has no place for.
  std::uint64_t impossible = 0;
  /// The size, in bytes, of one of the latest of these requests.
  std::uint64_t last_impossible_bytes = 0;
  /// Only with the layer `counted`.
  std::optional<call_counts> calls;

  /// What is in use, and what failed for which reason, in a few lines.
  std::string describe() const {
    std::string text = "in use: " + count_of(blocks_in_use, "block") + ", " +
                       std::to_string(bytes_in_use) + " of " + std::to_string(heap_bytes) +
                       " bytes\n";
    for (const blocks_of_size& size : in_use) {
      text += "  " + std::to_string(size.most_bytes / 2 + 1) + " to " +
              std::to_string(size.most_bytes) + " bytes: " + count_of(size.blocks, "block") + ", " +
              std::to_string(size.bytes) + " bytes\n";
    }
    if (calls) {
      text += "calls: " + count_of(calls->mallocs, "block") + " allocated, " +
              std::to_string(calls->frees()) + " freed; at most " +
              std::to_string(calls->peak_blocks) + " blocks and " +
              std::to_string(calls->peak_bytes) + " bytes at once\n";
    }
    if (impossible != 0) {
      text += "failed: " + count_of(impossible, "request") +
              " that this heap never serves: its largest block has " +
              std::to_string(largest_ever) + " bytes; one of the last asked for " +
              std::to_string(last_impossible_bytes) + " bytes\n";
    }
    if (failures != 0) {
      text += "failed: " + count_of(failures, "request") +
              " because the heap was exhausted; one of the last asked for " +
              std::to_string(last_failed_bytes) + " bytes. " + why_exhausted();
    }
    if (impossible == 0 && failures == 0) text += "failed: nothing\n";
    return text;
  }

 private:
  std::string why_exhausted() const {
    const std::uint64_t unused =
        heap_bytes - (bytes_in_use < heap_bytes ? bytes_in_use : heap_bytes);
    const std::string now = std::to_string(unused) + " bytes are not in use now";
    // Metadata and rounding take a few percent of a full heap.
    if (unused < heap_bytes / 16) return now + ": the heap is full\n";
    return now +
           ": they are the manager's own, kept for blocks of other sizes, in pieces that are too "
           "small, or were freed since\n";
  }
};

/// The numbered invariants of a manager that do not hold.
struct validation {
  struct violation {
    int invariant;
    std::uint64_t times;
    /// Where, for one of them; the manager's header says what the number means.
    std::uint64_t place;
  };
  std::vector<violation> violations;

  /// Whether all of them hold.
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

}  // namespace warpheap
