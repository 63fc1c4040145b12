// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "warpheap/core/bits.hpp"
#include "warpheap/host/policies/buddy_policy.hpp"

namespace warpheap::host {

namespace buddies {

/// Sizes 2^k. K. Knowlton, "A fast storage allocator", CACM 8(10), 1965.
struct binary {
  static constexpr std::size_t granules(int order) { return std::size_t{1} << order; }
  static constexpr int left(int order) { return order - 1; }
  static constexpr int right(int order) { return order - 1; }
  static constexpr int parent(int left) { return left + 1; }
  static constexpr std::array<int, 1> wanted(std::size_t n) {
    const int order = ceil_log2(n);
    return {order <= top ? order : unsplit};
  }
  static constexpr std::uint64_t sources(int order) { return ~std::uint64_t{0} << order; }
  static constexpr int root(std::size_t remaining, std::size_t) {
    return std::min(floor_log2(remaining), top);
  }
};

}  // namespace buddies

using binary_buddy = buddy_policy<buddies::binary>;

static_assert(placement_policy<binary_buddy>);

}  // namespace warpheap::host
