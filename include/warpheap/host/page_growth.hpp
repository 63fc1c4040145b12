// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "warpheap/host/extent.hpp"
#include "warpheap/host/policy.hpp"
#include "warpheap/host/upstream.hpp"

namespace warpheap::host {

/// Addresses that nobody uses and that a request fits into. No range: there are none.
struct growth_site {
  extent range;
  std::size_t vacant = 0;  ///< bytes of its pages that have no memory
  std::size_t beyond = 0;  ///< bytes of its pages behind the end of the region that can grow

  std::size_t missing() const { return vacant + beyond; }
};

/// The pages of a vacant part that `range` touches.
inline extent pages_within(extent vacant, extent range, std::size_t page) {
  const address base = std::max<address>(vacant.base, range.base & ~(page - 1));
  const address end = std::min<address>(vacant.end(), align_up<address>(range.end(), page));
  return base < end ? extent{base, end - base} : extent{};
}

/// Finds where a request of `bytes` bytes needs the least further memory: in a run of neighbouring
/// free blocks and vacant parts, or at the end of `growing`, the region that can grow without end.
///
/// A run is looked at from both of its ends only: then the rest of it stays in one piece.
class growth_search {
 public:
  growth_search(std::size_t bytes, std::size_t page_bytes, extent growing)
      : bytes_(bytes), page_(page_bytes), growing_(growing) {}

  /// The next free block or vacant part in the order of addresses; `starts_region` if it is the
  /// first of its region.
  void add(extent part, bool vacant, bool starts_region) {
    if (starts_region || run_.range.end() != part.base) start_run(part.base);
    run_.range.bytes += part.bytes;
    if (vacant) run_.vacant.push_back(part);
  }

  /// No range if there is no such place.
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

  // Looks at the last run and begins the next one.
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
      site.beyond = align_up<std::size_t>(range.end() - growing_.end(), page_);
    }
    if (!best_.range || site.missing() < best_.missing()) best_ = site;
  }

  std::size_t bytes_;
  std::size_t page_;
  extent growing_;
  run run_;
  growth_site best_;
};

/// The whole pages of free blocks, the largest first, without the blocks that `spared` touches.
/// O(blocks), and O(n log n) in the n of them that have a page
template <vacatable_policy Policy>
std::vector<extent> whole_pages(const Policy& policy, std::size_t page, extent spared) {
  std::vector<extent> found;
  policy.for_each_unused([&](extent part, bool vacant) {
    if (vacant || (part.base < spared.end() && spared.base < part.end())) return;
    const address base = align_up<address>(part.base, page);
    const address end = part.end() & ~(page - 1);
    if (base < end) found.push_back({base, end - base});
  });
  std::sort(found.begin(), found.end(), [](extent a, extent b) { return a.bytes > b.bytes; });
  return found;
}

inline std::size_t sum_of(const std::vector<extent>& parts) {
  std::size_t bytes = 0;
  for (const extent& part : parts) bytes += part.bytes;
  return bytes;
}

/// Makes pages of these parts vacant, at least `bytes` bytes if there are as many: one part after
/// the other, each from its end. `give(place, bytes)` gets them. Returns how many bytes it were.
template <vacatable_policy Policy, class Give>
std::size_t vacate_pages(Policy& policy, std::size_t page, const std::vector<extent>& parts,
                         std::size_t bytes, Give&& give) {
  std::size_t given = 0;
  for (const extent& part : parts) {
    if (given >= bytes || !policy.has_room()) break;
    const std::size_t taken = std::min(part.bytes, align_up(bytes - given, page));
    const extent last{part.end() - taken, taken};
    policy.vacate(last);
    give(reinterpret_cast<void*>(last.base), last.bytes);
    given += taken;
  }
  return given;
}

/// Gets memory for the vacant pages that `range` touches, and adds the bytes to `got`; false if the
/// upstream has not enough for all.
template <vacatable_policy Policy>
bool fill_pages(Policy& policy, upstream& source, extent range, std::size_t& got) {
  std::vector<extent> parts;
  policy.for_each_unused([&](extent part, bool vacant) {
    const extent pages = pages_within(part, range, source.page_bytes());
    if (vacant && pages) parts.push_back(pages);
  });
  for (const extent& part : parts) {
    if (!source.commit(reinterpret_cast<void*>(part.base), part.bytes)) return false;
    policy.fill(part);
    got += part.bytes;
  }
  return true;
}

}  // namespace warpheap::host
