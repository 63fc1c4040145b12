// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/reg_eff/operations.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

/// What searches of all chunks know: besides the longest run, how many runs the last round has
/// seen. Where those are few, all of them may be in the hands of lanes that are about to split
/// them, and a lane that finds none has only lost a race.
class runs_left : public longest_runs<operations> {
  using base = longest_runs<operations>;

 public:
  struct seen {
    std::uint32_t longest;
    std::uint32_t count;
  };

  WARPHEAP_DEVICE void format(const operations& of_heap) {
    base::format(of_heap);
    counting_ = 0;
    count_ = 0;
  }

  /// Runs that the last round has seen.
  WARPHEAP_DEVICE std::uint32_t count() {
    return simt::atomic_ref(count_).load(simt::order::relaxed);
  }

  WARPHEAP_DEVICE void begin_round() {
    base::begin_round();
    simt::atomic_ref(counting_).store(0, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void note(const seen& left) {
    base::note(left.longest);
    if (left.count != 0) simt::atomic_ref(counting_).fetch_add(left.count, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void end_round() {
    base::end_round();
    const std::uint32_t all = simt::atomic_ref(counting_).load(simt::order::relaxed);
    simt::atomic_ref(count_).store(all, simt::order::relaxed);
  }

 private:
  std::uint32_t counting_;
  std::uint32_t count_;
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
