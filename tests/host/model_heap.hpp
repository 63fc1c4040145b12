// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "warpheap/host/policies/policy.hpp"

/// A policy with one region, and a naive model of the memory that is free in it. A namespace of its
/// own, for its short names.
namespace warpheap::host::one_region {

/// Where the regions of these tests start, and their granule.
constexpr address base = 0x100000;
constexpr std::size_t granule = 256;

/// A policy with one region of this many granules.
template <class Policy>
struct with_region : Policy {
  explicit with_region(std::size_t granules) : Policy(policy_options{granule}) {
    this->add_region({base, granules * granule});
  }
};

template <class Policy>
address take(Policy& policy, std::size_t granules, effort how = effort::bounded) {
  return policy.allocate(granules * granule, granule, how).base;
}

/// Free memory as a naive allocator sees it: a sorted map of the free runs.
class model_heap {
 public:
  explicit model_heap(std::vector<extent> regions) : regions_(std::move(regions)) {
    for (const extent& region : regions_) free_[region.base] = region.bytes;
  }

  const std::map<address, std::size_t>& free() const { return free_; }

  void take(extent piece) {
    const auto run = std::prev(free_.upper_bound(piece.base));
    const extent whole{run->first, run->second};
    free_.erase(run);
    if (piece.base != whole.base) free_[whole.base] = piece.base - whole.base;
    if (piece.end() != whole.end()) free_[piece.end()] = whole.end() - piece.end();
  }

  void give_back(extent piece) {
    auto run = free_.emplace(piece.base, piece.bytes).first;
    const auto next = std::next(run);
    if (next != free_.end() && next->first == piece.end() && !is_region_start(next->first)) {
      run->second += next->second;
      free_.erase(next);
    }
    if (run == free_.begin() || is_region_start(run->first)) return;
    const auto prev = std::prev(run);
    if (prev->first + prev->second == run->first) {
      prev->second += run->second;
      free_.erase(run);
    }
  }

 private:
  bool is_region_start(address where) const {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const extent& region) { return region.base == where; });
  }

  std::vector<extent> regions_;
  std::map<address, std::size_t> free_;
};

}  // namespace warpheap::host::one_region
