// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Matches in pages of a heap. Every warp has its own chain, so that no warp waits for another, and
/// allocates a page when its last one is full.

#include "warpheap/containers/page_chain.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/workloads/join/requests.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace join {

using match_chain = page_chain<join_data::match>;
static_assert(sizeof(match_chain) == join_data::match_chains::bytes_each);

WARPHEAP_HD inline match_chain& chain_of(const join_data::match_chains& all, std::uint64_t i) {
  return static_cast<match_chain*>(all.chains)[i];
}

/// Where a warp puts its matches. Once the heap is exhausted, the warp only counts its further
/// matches: nothing is freed while the join runs, so it would ask again in vain.
template <containers::block_heap Heap>
class paged_matches {
 public:
  WARPHEAP_DEVICE paged_matches(const Heap& heap, match_chain& chain, std::uint32_t* lost)
      : heap_(heap), chain_(chain), lost_(lost) {}

  WARPHEAP_DEVICE void operator()(const simt::group& together, bool found, std::uint64_t row,
                                  const join_data::match& match) {
    const bool placed = !exhausted_ && chain_.push(heap_, together, found, match);
    const bool lost = found && !placed;
    exhausted_ = together.any(lost) || exhausted_;
    // No other lane has this row.
    if (lost) ++lost_[row];
  }

 private:
  const Heap& heap_;
  match_chain& chain_;
  std::uint32_t* lost_;
  bool exhausted_ = false;
};

}  // namespace join
WARPHEAP_END_NAMESPACE
