// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/hash.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/workloads/graph/requests.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// A bijection of the numbers below 2^scale: odd factors and shifts towards lower bits can be
/// undone.
WARPHEAP_HD constexpr std::uint32_t scrambled(std::uint32_t v, std::uint64_t seed, int scale) {
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << scale) - 1);
  v = (v * 0x9e3779b1u + static_cast<std::uint32_t>(seed)) & mask;
  v ^= v >> ((scale + 1) / 2);
  return (v * 0x85ebca6bu) & mask;
}

/// Edge number `i` of the R-MAT graph of 2^scale vertices with the parameters of Graph500
/// (A = 0.57, B = C = 0.19; D. Chakrabarti, Y. Zhan, C. Faloutsos, SDM 2004,
/// DOI 10.1137/1.9781611972740.43): at each level, the edge falls into one of the four quarters of
/// the matrix. Loops and duplicates occur. A bijection scrambles the vertices, so that hubs can be
/// anywhere. Depends only on its arguments. O(scale). \pre `1 <= scale && scale <= 31`
WARPHEAP_HD constexpr std::uint64_t rmat_edge(std::uint64_t seed, std::uint64_t i, int scale) {
  random_sequence random(mix64(seed) ^ mix64(i + 0x5851f42d4c957f2dull));
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  for (int level = 0; level < scale; ++level) {
    const auto drawn = static_cast<std::uint32_t>(random.next() >> 32);
    const std::uint32_t a = 2'448'131'359u;    // 0.57 of 2^32
    const std::uint32_t ab = 3'264'175'145u;   // 0.76
    const std::uint32_t abc = 4'080'218'931u;  // 0.95
    source = source << 1 | (drawn >= ab ? 1u : 0u);
    target = target << 1 | ((drawn >= a && drawn < ab) || drawn >= abc ? 1u : 0u);
  }
  return std::uint64_t{scrambled(source, seed, scale)} << 32 | scrambled(target, seed, scale);
}

/// Lane i writes edge `first + i`.
struct generate_rmat {
  graph_data::rmat_request in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.count) in.keys[i] = rmat_edge(in.seed, in.first + i, in.scale);
  }
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
