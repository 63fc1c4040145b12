// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "warpheap/host/extent.hpp"

namespace warpheap::host {

/// The regions that a policy got from its pool, in address order, each with the policy's data for
/// it. There are few regions (pools ask for large ones), so a sorted vector suffices: find O(log
/// regions), add and remove O(regions).
template <class Payload>
class region_map {
 public:
  struct region {
    extent range;
    Payload data;
  };

  /// Makes room for one more region, so that `add` cannot fail. \throws std::bad_alloc
  void make_room() {
    if (regions_.size() == regions_.capacity()) regions_.reserve(2 * regions_.size() + 1);
  }

  /// \pre the region overlaps none that is here. \throws std::bad_alloc, and nothing has changed
  Payload& add(extent range, Payload data) {
    const auto place = std::upper_bound(regions_.begin(), regions_.end(), range.base, before);
    return regions_.insert(place, region{range, std::move(data)})->data;
  }

  void extend(address base, std::size_t bytes) { find(base)->range.bytes += bytes; }

  void remove(address base) { regions_.erase(regions_.begin() + (find(base) - regions_.data())); }

  /// The region that contains `where`, or null.
  const region* find(address where) const {
    const auto after = std::upper_bound(regions_.begin(), regions_.end(), where, before);
    if (after == regions_.begin() || !std::prev(after)->range.contains(where)) return nullptr;
    return &*std::prev(after);
  }
  region* find(address where) {
    return const_cast<region*>(static_cast<const region_map*>(this)->find(where));
  }

  std::size_t size() const { return regions_.size(); }
  region& operator[](std::size_t position) { return regions_[position]; }
  const region& operator[](std::size_t position) const { return regions_[position]; }
  auto begin() { return regions_.begin(); }
  auto end() { return regions_.end(); }
  auto begin() const { return regions_.begin(); }
  auto end() const { return regions_.end(); }

 private:
  static bool before(address where, const region& r) { return where < r.range.base; }

  std::vector<region> regions_;
};

}  // namespace warpheap::host
