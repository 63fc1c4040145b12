// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Set by `--small`: sizes at which compute-sanitizer ends in minutes.
inline bool small_run = false;

/// Set by `--all-laps`: counters go beyond 2^16 with every manager, however long that takes.
inline bool all_laps = false;

/// How much a test does.
struct scale {
  /// Threads that allocate at once where the test does not say otherwise.
  std::uint64_t threads;
  /// Blocks that a heap is filled with, roughly.
  std::uint64_t fill_blocks;
  /// Operations of each thread in a churn.
  std::uint32_t churn_rounds;
  /// Bytes of a heap, unless the manager needs more.
  std::size_t heap_bytes;
  /// Heaps of odd sizes have up to three times as many bytes.
  std::size_t odd_heap_bytes;

  static scale current() {
    constexpr std::size_t mib = std::size_t{1} << 20;
    const bool small = sanitized || small_run;
    const std::size_t odd_bytes = std::size_t{1} << (race_checked ? 16 : small ? 18 : 20);
    if (WARPHEAP_CUDA_MODEL && !small_run) return {1u << 20, 1u << 18, 64, 2048 * mib, odd_bytes};
    // What a sanitizer looks for depends on the paths that are taken, seldom on how often; blocks
    // that fill the heap decide which path it is. Most of the time goes into inspections, by bytes.
    if (sanitized) return {128, 1024, 8, (race_checked ? 32 : 8) * mib, odd_bytes};
    if (small_run) return {512, 2048, 8, 32 * mib, odd_bytes};
    return {8192, 16384, 24, 64 * mib, odd_bytes};
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
