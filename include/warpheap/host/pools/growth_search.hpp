// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "warpheap/core/align.hpp"
#include "warpheap/host/extent.hpp"

namespace warpheap::host {

/// Unused addresses into which a request fits. An empty range: nothing was found.
struct growth_site {
  extent range;
  std::size_t vacant = 0;  ///< bytes of its pages that have no memory
  std::size_t beyond = 0;  ///< bytes of its pages behind the end of the region that can grow

  std::size_t missing() const { return vacant + beyond; }
};

/// The pages of a vacant part that `range` touches.
inline extent pages_within(extent vacant, extent range, std::size_t page) {
  const address base = std::max(vacant.base, align_down(range.base, page));
  const address end = std::min(vacant.end(), align_up(range.end(), page));
  return base < end ? extent{base, end - base} : extent{};
}

/// Finds where a request of `bytes` bytes needs the least additional memory: in a run of adjacent
/// free blocks and vacant parts, or at the end of `growing`, the region that can grow without
/// limit.
///
/// Only the two ends of a run are considered, so that the rest of it stays in one piece.
class growth_search {
 public:
  growth_search(std::size_t bytes, std::size_t page_bytes, extent growing)
      : bytes_(bytes), page_(page_bytes), growing_(growing) {}

  /// The next free block or vacant part in address order; `starts_region` if it is the first of its
  /// region.
  void add(extent part, bool vacant, bool starts_region) {
    if (starts_region || run_.range.end() != part.base) start_run(part.base);
    run_.range.bytes += part.bytes;
    if (vacant) run_.vacant.push_back(part);
  }

  /// An empty range if the request fits nowhere.
  growth_site best() {
    // The end of the region, if its last block is in use.
    start_run(growing_.end());
    start_run(0);
    return best_;
  }

 private:
  /// Unused addresses without a gap, and their vacant parts.
  struct run {
    extent range;
    std::vector<extent> vacant;
  };

  bool at_the_end() const { return growing_ && run_.range.end() == growing_.end(); }

  // Considers the current run and starts the next one.
  void start_run(address base) {
    const extent all = run_.range;
    if (all.bytes >= bytes_) offer({all.end() - bytes_, bytes_});
    if (all.bytes >= bytes_ || at_the_end()) offer({all.base, bytes_});
    run_ = {{base, 0}, {}};
  }

  void offer(extent range) {
    growth_site site{range};
    for (const extent& part : run_.vacant) site.vacant += pages_within(part, range, page_).bytes;
    if (at_the_end() && range.end() > growing_.end()) {
      site.beyond = align_up(range.end() - growing_.end(), page_);
    }
    if (!best_.range || site.missing() < best_.missing()) best_ = site;
  }

  std::size_t bytes_;
  std::size_t page_;
  extent growing_;
  run run_;
  growth_site best_;
};

}  // namespace warpheap::host
