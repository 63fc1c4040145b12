// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/reg_eff/operations.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

/// What searches of all chunks know: besides the longest run, how many runs the last round has
/// seen, and how long those were that suited a lane in it. If there are few runs, all of them may
/// be held by lanes that are about to split them, and a lane that finds none has only lost a race;
/// the same may be true if others found as much as it needs.
class runs_left : public longest_runs<operations> {
  using base = longest_runs<operations>;

 public:
  struct seen {
    std::uint32_t longest;
    std::uint32_t count;
    std::uint32_t wanted;  ///< most granules that a lane found together and tried to take; or 0
  };

  WARPHEAP_DEVICE void format(const operations& of_heap) {
    base::format(of_heap);
    counting_ = 0;
    count_ = 0;
    wanting_ = 0;
    wanted_ = 0;
  }

  /// Runs that the last round has seen.
  WARPHEAP_DEVICE std::uint32_t count() {
    return simt::atomic_ref(count_).load(simt::order::relaxed);
  }
  /// The most granules that a lane found together in the last round, and tried to take.
  WARPHEAP_DEVICE std::uint32_t wanted() {
    return simt::atomic_ref(wanted_).load(simt::order::relaxed);
  }

  WARPHEAP_DEVICE void begin_round() {
    base::begin_round();
    simt::atomic_ref(counting_).store(0, simt::order::relaxed);
    simt::atomic_ref(wanting_).store(0, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void note(const seen& left) {
    base::note(left.longest);
    if (left.count != 0) simt::atomic_ref(counting_).fetch_add(left.count, simt::order::relaxed);
    if (left.wanted != 0) {
      simt::atomic_ref(wanting_).fetch_max(left.wanted, simt::order::relaxed);
    }
  }
  WARPHEAP_DEVICE void end_round() {
    base::end_round();
    const std::uint32_t all = simt::atomic_ref(counting_).load(simt::order::relaxed);
    simt::atomic_ref(count_).store(all, simt::order::relaxed);
    const std::uint32_t most = simt::atomic_ref(wanting_).load(simt::order::relaxed);
    simt::atomic_ref(wanted_).store(most, simt::order::relaxed);
  }

 private:
  std::uint32_t counting_;
  std::uint32_t count_;
  std::uint32_t wanting_;
  std::uint32_t wanted_;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
