// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a search of all units has left, and where: so that lanes that had no part in it need not
/// search for that.

#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// A run of free units that is left: the word that it begins in, and its length.
struct run_left {
  std::uint32_t word = 0;
  std::uint32_t units = 0;

  WARPHEAP_HD static constexpr run_left of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)};
  }
  WARPHEAP_HD constexpr std::uint64_t packed() const { return std::uint64_t{units} << 32 | word; }
};

/// What a round of searches has left, for `shared_search`: the length of the longest run and, as a
/// hint, where that is.
class longest_run_left : public longest_runs<exhaustion> {
 public:
  WARPHEAP_DEVICE void format() {
    longest_runs::format();
    best_ = 0;
  }
  WARPHEAP_DEVICE void begin_round() {
    longest_runs::begin_round();
    simt::atomic_ref(best_).store(0, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void note(const run_left& by_lane) {
    const simt::atomic_ref best(best_);
    // Most lanes have seen nothing longer, and need not all change one word.
    if (by_lane.units <= run_left::of(best.load(simt::order::relaxed)).units) return;
    best.fetch_max(by_lane.packed(), simt::order::relaxed);
    longest_runs::note(by_lane.units);
  }
  /// A `run_left`, packed: the longest one of the latest round so far.
  WARPHEAP_DEVICE std::uint64_t best() {
    return simt::atomic_ref(best_).load(simt::order::relaxed);
  }

 private:
  std::uint64_t best_;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
