// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "warpheap/core/align.hpp"
#include "warpheap/host/extent.hpp"
#include "warpheap/host/policies/policy.hpp"
#include "warpheap/host/pools/growth_search.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// The pages of a policy's free and vacant memory, over an upstream with pages: takes the memory of
/// whole pages out of holes, which leaves vacant addresses, and maps memory at vacant addresses
/// again. None of this is on the fast path: every function O(blocks) unless it says otherwise.
///
/// Where the policy or the upstream has no pages, `page_bytes` is 0 and nothing ever moves.
template <placement_policy Policy>
class page_moves {
 public:
  page_moves(Policy& policy, upstream& source, std::size_t granule)
      : policy_(policy), source_(source), granule_(granule) {}

  /// The size of a page that can move; 0 if no page can. O(1)
  std::size_t page_bytes() const {
    const std::size_t page = vacatable_policy<Policy> ? source_.page_bytes() : std::size_t{0};
    return page >= granule_ ? page : 0;
  }

  /// The number of bytes that have moved so far. O(1)
  std::size_t moved_bytes() const { return moved_bytes_; }

  /// Whether so few pages have moved that more may move merely to keep the pool small. A move takes
  /// about 50 us per page (docs/host.md): with at most one page in eight requests, it costs a few
  /// microseconds per request, however bad the holes are. O(1)
  bool may_move(std::uint64_t requests) const {
    return moved_bytes_ <= (few_moves + requests / 8) * page_bytes();
  }

  /// The bytes of the whole pages in holes outside `spared`. \pre `page_bytes() != 0`
  std::size_t movable_bytes(extent spared = {}) const { return sum_of(whole_pages(spared)); }

  /// Where `bytes` bytes fit with the least additional memory; `growing` may be empty.
  /// `starts_region(base)` tells whether a region starts there. \pre `page_bytes() != 0`
  template <class StartsRegion>
  growth_site cheapest_site(std::size_t bytes, extent growing, StartsRegion&& starts_region) const {
    growth_search search(bytes, page_bytes(), growing);
    if constexpr (vacatable_policy<Policy>) {
      policy_.for_each_unused(
          [&](extent part, bool vacant) { search.add(part, vacant, starts_region(part.base)); });
    }
    return search.best();
  }

  /// Takes `bytes` bytes, rounded up to pages, or as many as exist, out of holes for the next
  /// calls of `fill` and of the upstream, but no page that `spared` touches. Returns the bytes
  /// taken. \pre no stream uses free memory
  std::size_t set_aside(std::size_t bytes, extent spared) {
    const std::size_t moved =
        vacate(whole_pages(spared), bytes,
               [&](void* place, std::size_t part) { source_.set_aside(place, part); });
    moved_bytes_ += moved;
    return moved;
  }

  /// Gives back at most `bytes` bytes of whole pages in holes to the upstream. Returns the bytes
  /// given back. \pre no stream uses free memory
  std::size_t decommit(std::size_t bytes) {
    const std::size_t page = page_bytes();
    if (page == 0 || bytes < page) return 0;
    return vacate(whole_pages({}), align_down(bytes, page),
                  [&](void* place, std::size_t part) { source_.decommit(place, part); });
  }

  /// Gets memory for the vacant pages that `range` touches, and calls `hold(bytes)` for each piece;
  /// false if the upstream does not have enough for all. Memory that was obtained before a failure,
  /// or before an exception of the upstream, stays, as holes.
  template <class Hold>
  bool fill(extent range, Hold&& hold) {
    std::vector<extent> parts;
    if constexpr (vacatable_policy<Policy>) {
      policy_.for_each_unused([&](extent part, bool vacant) {
        const extent pages = pages_within(part, range, source_.page_bytes());
        if (vacant && pages) parts.push_back(pages);
      });
      for (const extent& part : parts) {
        if (!source_.commit(reinterpret_cast<void*>(part.base), part.bytes)) return false;
        policy_.fill(part);
        hold(part.bytes);
      }
    }
    return true;
  }

  /// The bytes of a region that have no memory.
  std::size_t vacant_bytes(extent region) const {
    std::size_t bytes = 0;
    if constexpr (vacatable_policy<Policy>) {
      if (page_bytes() == 0) return 0;
      policy_.for_each_unused([&](extent part, bool vacant) {
        if (vacant && region.contains(part.base)) bytes += part.bytes;
      });
    }
    return bytes;
  }

 private:
  // Pages that may move no matter how few requests were made.
  static constexpr std::uint64_t few_moves = 2048;

  static std::size_t sum_of(const std::vector<extent>& parts) {
    std::size_t bytes = 0;
    for (const extent& part : parts) bytes += part.bytes;
    return bytes;
  }

  // The whole pages of free blocks that `spared` does not touch, the largest piece first.
  // O(blocks), and O(n log n) in the n of them that have a page.
  std::vector<extent> whole_pages(extent spared) const {
    std::vector<extent> found;
    if constexpr (vacatable_policy<Policy>) {
      const auto add = [&](address from, address to) {
        const address base = align_up(from, page_bytes());
        const address end = align_down(to, page_bytes());
        if (base < end) found.push_back({base, end - base});
      };
      policy_.for_each_unused([&](extent part, bool vacant) {
        if (vacant) return;
        if (part.end() <= spared.base || spared.end() <= part.base) {
          add(part.base, part.end());
        } else {
          add(part.base, spared.base);
          add(spared.end(), part.end());
        }
      });
    }
    std::sort(found.begin(), found.end(), [](extent a, extent b) { return a.bytes > b.bytes; });
    return found;
  }

  // Makes pages of these parts vacant, at least `bytes` bytes if they have that many: one part
  // after the other, each from its end. Passes them to `give(place, bytes)`. Returns the number of
  // bytes.
  template <class Give>
  std::size_t vacate(const std::vector<extent>& parts, std::size_t bytes, Give&& give) {
    std::size_t given = 0;
    if constexpr (vacatable_policy<Policy>) {
      for (const extent& part : parts) {
        if (given >= bytes || !policy_.make_room()) break;
        const std::size_t taken = std::min(part.bytes, align_up(bytes - given, page_bytes()));
        const extent last{part.end() - taken, taken};
        policy_.vacate(last);
        give(reinterpret_cast<void*>(last.base), last.bytes);
        given += taken;
      }
    }
    return given;
  }

  Policy& policy_;
  upstream& source_;
  std::size_t granule_;
  std::size_t moved_bytes_ = 0;
};

}  // namespace warpheap::host
