// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/team.hpp"
#include "warpheap/sync/group_sum.hpp"
#include "warpheap/workloads/graph/adjacency.hpp"
#include "warpheap/workloads/graph/requests.hpp"
#include "warpheap/workloads/graph/share_out.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// The kernel that counts triangles, each only once.
template <layout L>
struct count_triangles {
  graph_data::triangle_counting<L> in;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t found = 0;
    const auto work_of = [this](std::uint64_t v) {
      return std::uint64_t{adjacency<L>(in.graph, v).degree()};
    };
    // v > u > w: every triangle once, and no loops.
    share_out(in.graph.count, work_of, [&](const auto& members, std::uint64_t v) {
      const auto& targets = adjacency<L>(in.graph, v);
      targets.for_each(members, [&](std::uint32_t u) {
        if (u >= v) return;
        adjacency<L>(in.graph, u).for_each(containers::lane_alone{}, [&](std::uint32_t w) {
          if (w < u && targets.contains(w)) ++found;
        });
      });
    });
    sync::add_up(simt::warp(), in.found, found);
  }
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
