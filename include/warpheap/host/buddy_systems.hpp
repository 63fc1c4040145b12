// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "warpheap/host/extent.hpp"

namespace warpheap::host {

/// What the three buddy systems of the host-based paper (section II-C) differ in. Sizes are in
/// granules. An order is a number below 64; a larger order of the same family is a larger block.
///
/// - `granules(order)`: the size of a block of the order.
/// - `left(order)`, `right(order)`: the orders of the halves that it splits into, or `unsplit`.
/// - `parent(left)`: the order that splits into `left` and its buddy.
/// - `wanted(n)`: for each family the smallest order of at least n granules, least waste first;
///   `unsplit` where the family has none.
/// - `sources(order)`: the orders, as a set of bits, from which a block of `order` can be split.
/// - `root(remaining, done)`: the order of the next root when `remaining` granules of a region are
///   left and `done` have been given to roots.
namespace buddies {

inline constexpr int unsplit = -1;
inline constexpr int orders = 64;
/// Orders stop at 2^31 granules; larger regions get several roots.
inline constexpr int top = 31;

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
}  // namespace warpheap::host
