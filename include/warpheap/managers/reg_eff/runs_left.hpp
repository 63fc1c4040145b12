// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/reg_eff/operations.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

/// What searches of all chunks know: besides the longest run, how many runs the last round has
/// seen, and for what lanes lost races in it. Where runs are few, all of them may be in the hands of
/// lanes that are about to split them, and a lane that finds none has only lost a race; so it has
/// where others lost races for as much.
class runs_left : public longest_runs<operations> {
  using base = longest_runs<operations>;

 public:
  struct seen {
    std::uint32_t longest;
    std::uint32_t count;
    std::uint32_t contested;  ///< granules that a lane found together and lost to another; 0: none
  };

  WARPHEAP_DEVICE void format(const operations& of_heap) {
    base::format(of_heap);
    counting_ = 0;
    count_ = 0;
    contesting_ = 0;
    contested_ = 0;
  }

  /// Runs that the last round has seen.
  WARPHEAP_DEVICE std::uint32_t count() {
    return simt::atomic_ref(count_).load(simt::order::relaxed);
  }
  /// The most granules that a lane found together in the last round, and lost to another.
  WARPHEAP_DEVICE std::uint32_t contested() {
    return simt::atomic_ref(contested_).load(simt::order::relaxed);
  }

  WARPHEAP_DEVICE void begin_round() {
    base::begin_round();
    simt::atomic_ref(counting_).store(0, simt::order::relaxed);
    simt::atomic_ref(contesting_).store(0, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void note(const seen& left) {
    base::note(left.longest);
    if (left.count != 0) simt::atomic_ref(counting_).fetch_add(left.count, simt::order::relaxed);
    if (left.contested != 0) {
      simt::atomic_ref(contesting_).fetch_max(left.contested, simt::order::relaxed);
    }
  }
  WARPHEAP_DEVICE void end_round() {
    base::end_round();
    const std::uint32_t all = simt::atomic_ref(counting_).load(simt::order::relaxed);
    simt::atomic_ref(count_).store(all, simt::order::relaxed);
    const std::uint32_t most = simt::atomic_ref(contesting_).load(simt::order::relaxed);
    simt::atomic_ref(contested_).store(most, simt::order::relaxed);
  }

 private:
  std::uint32_t counting_;
  std::uint32_t count_;
  std::uint32_t contesting_;
  std::uint32_t contested_;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
