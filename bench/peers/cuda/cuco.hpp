// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Join and group-by with cuCollections' hash tables, as its users write them. A parameter is the
/// number of lanes that look for a key together.

#include "bench/peers/peer.hpp"

namespace warpheap::bench::peers {

/// The hash tables are half full, which is cuDF's load factor too.
inline constexpr double load_factor = 0.5;

template <int GroupSize>
join_times join_with_multimap(const table& build, const table& probe, const outcome& expected,
                              std::uint64_t runs, std::uint64_t& wrong);

template <int GroupSize>
group_times group_with_map(const table& input, const outcome& expected, std::uint64_t runs,
                           std::uint64_t& wrong);

}  // namespace warpheap::bench::peers
