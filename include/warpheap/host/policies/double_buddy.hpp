// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "warpheap/core/bits.hpp"
#include "warpheap/host/policies/buddy_policy.hpp"

namespace warpheap::host {

namespace buddies {

/// Two binary systems side by side, of sizes 2^k (even orders) and 3 * 2^k (odd orders), each with
/// about half of a region: rounding wastes at most a third and not half of a block. D. Wise, "The
/// double buddy-system", 1978.
struct double_ {
  static constexpr std::size_t granules(int order) {
    return (order % 2 == 0 ? std::size_t{1} : std::size_t{3}) << order / 2;
  }
  static constexpr int left(int order) { return order >= 2 ? order - 2 : unsplit; }
  static constexpr int right(int order) { return left(order); }
  static constexpr int parent(int left) { return left + 2; }
  static constexpr std::array<int, 2> wanted(std::size_t n) {
    const int power = 2 * ceil_log2(n);
    const int triple = 2 * ceil_log2((n + 2) / 3) + 1;
    std::array<int, 2> best{power, triple};
    if (granules(best[1]) < granules(best[0])) std::swap(best[0], best[1]);
    for (int& order : best) order = order < orders ? order : unsplit;
    return best;
  }
  static constexpr std::uint64_t sources(int order) {
    constexpr std::uint64_t even = 0x5555555555555555ull;
    return (order % 2 == 0 ? even : ~even) & (~std::uint64_t{0} << order);
  }
  static constexpr int root(std::size_t remaining, std::size_t done) {
    // Powers of two fill the first half of the region, the other family the second half.
    const std::size_t half = (remaining + done) / 2;
    if (done < half || remaining < 3) {
      return 2 * std::min(floor_log2(done < half ? half - done : remaining), top);
    }
    return std::min(2 * floor_log2(remaining / 3), 2 * top) + 1;
  }
};

}  // namespace buddies

using double_buddy = buddy_policy<buddies::double_>;

static_assert(placement_policy<double_buddy>);

}  // namespace warpheap::host
