// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a search of all units or pages has left, and where: so that lanes that had no part in it
/// need not search for that.

#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// A run of free units that is left: the word that it begins in, and its length.
struct run_left {
  std::uint32_t word = 0;
  std::uint32_t units = 0;
  bool spoilt = false;  ///< something was freed during the round that has left it

  WARPHEAP_HD static constexpr run_left of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32) & ~mark,
            (packed >> 63) != 0};
  }
  WARPHEAP_HD constexpr std::uint64_t packed() const {
    return std::uint64_t{spoilt ? units | mark : units} << 32 | word;
  }

 private:
  static constexpr std::uint32_t mark = 1u << 31;
};

/// Tells `exhaustion` what rounds of searches found, for `shared_search`: the length of the longest
/// run that was left and, as a hint, where that is. Its words are accessed relaxed, because
/// `shared_search` orders them.
class longest_run_left {
 public:
  WARPHEAP_DEVICE void format() {
    memory_.format();
    token_ = 0;
    best_ = 0;
    left_ = 0;
  }

  WARPHEAP_DEVICE exhaustion& memory() { return memory_; }

  WARPHEAP_DEVICE void begin_round() {
    simt::atomic_ref(token_).store(memory_.announce().epoch, simt::order::relaxed);
    simt::atomic_ref(best_).store(0, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void note(const run_left& by_lane) {
    const simt::atomic_ref best(best_);
    // Most lanes have seen nothing longer, and need not all change one word.
    if (by_lane.units <= run_left::of(best.load(simt::order::relaxed)).units) return;
    best.fetch_max(by_lane.packed(), simt::order::relaxed);
  }
  WARPHEAP_DEVICE void end_round() {
    const exhaustion::token begun{simt::atomic_ref(token_).load(simt::order::relaxed)};
    run_left best = run_left::of(simt::atomic_ref(best_).load(simt::order::relaxed));
    best.spoilt = !memory_.confirm(begun, best.units + 1);
    simt::atomic_ref(left_).store(best.packed(), simt::order::relaxed);
  }
  /// A `run_left`, packed: the longest one of the latest round so far.
  WARPHEAP_DEVICE std::uint64_t best() {
    return simt::atomic_ref(best_).load(simt::order::relaxed);
  }
  /// The same of the last round to end.
  WARPHEAP_DEVICE std::uint64_t left() {
    return simt::atomic_ref(left_).load(simt::order::relaxed);
  }

 private:
  exhaustion memory_;
  std::uint64_t token_;
  std::uint64_t best_;
  std::uint64_t left_;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
