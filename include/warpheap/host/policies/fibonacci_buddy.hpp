// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "warpheap/host/policies/buddy_policy.hpp"

namespace warpheap::host {

namespace buddies {

/// Sizes 1, 2, 3, 5, 8, ...; a block splits into the two sizes before its own. D. Hirschberg, "A
/// class of dynamic memory allocation algorithms", CACM 16(10), 1973.
struct fibonacci {
  static constexpr auto sizes = [] {
    std::array<std::size_t, orders> f{1, 2};
    for (std::size_t k = 2; k < f.size(); ++k) f[k] = f[k - 1] + f[k - 2];
    return f;
  }();
  static constexpr std::size_t granules(int order) { return sizes[order]; }
  static constexpr int left(int order) { return order - 1; }
  static constexpr int right(int order) { return order >= 2 ? order - 2 : order - 1; }
  static constexpr int parent(int left) { return left + 1; }
  static constexpr std::array<int, 1> wanted(std::size_t n) {
    int order = 0;
    while (order < orders && sizes[order] < n) ++order;
    return {order < orders ? order : unsplit};
  }
  static constexpr std::uint64_t sources(int order) { return ~std::uint64_t{0} << order; }
  static constexpr int root(std::size_t remaining, std::size_t) {
    int order = 0;
    while (order + 1 < orders && sizes[order + 1] <= remaining) ++order;
    return order;
  }
};

}  // namespace buddies

using fibonacci_buddy = buddy_policy<buddies::fibonacci>;

static_assert(placement_policy<fibonacci_buddy>);

}  // namespace warpheap::host
