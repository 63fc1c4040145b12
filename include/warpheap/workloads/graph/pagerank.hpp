// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The kernels of PageRank; dynamic_graph.hpp has the iteration.

#include "warpheap/sync/group_sum.hpp"
#include "warpheap/workloads/graph/adjacency.hpp"
#include "warpheap/workloads/graph/requests.hpp"
#include "warpheap/workloads/graph/share_out.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// Fixed-point numbers with 60 fractional bits: their sums do not depend on the order in which
/// lanes add them, so ranks are the same in every run.
WARPHEAP_DEVICE inline std::uint64_t to_fixed(double value) {
  return static_cast<std::uint64_t>(value * static_cast<double>(std::uint64_t{1} << 60));
}
WARPHEAP_DEVICE inline double from_fixed(std::uint64_t value) {
  return static_cast<double>(value) / static_cast<double>(std::uint64_t{1} << 60);
}

template <layout L>
struct push_ranks {
  graph_data::rank_pushing<L> in;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t lost = 0;
    const auto work_of = [this](std::uint64_t v) {
      return std::uint64_t{adjacency<L>(in.graph, v).degree()};
    };
    share_out(in.graph.count, work_of, [&](const auto& members, std::uint64_t v) {
      const auto& targets = adjacency<L>(in.graph, v);
      if (targets.degree() == 0) {
        lost += to_fixed(in.ranks[v]);
        return;
      }
      const std::uint64_t share = to_fixed(in.ranks[v] / targets.degree());
      // Relaxed: a later launch reads the sums.
      targets.for_each(members, [&](std::uint32_t target) {
        simt::atomic_ref(in.received[target]).fetch_add(share, simt::order::relaxed);
      });
    });
    sync::add_up(simt::warp(), in.lost, lost);
  }
};

struct update_ranks {
  graph_data::rank_updating in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t v = simt::thread_rank();
    std::uint64_t change = 0;
    if (v < in.count) {
      const double before = in.ranks[v];
      const double after =
          (1 - in.damping) / in.count +
          in.damping * (from_fixed(in.received[v]) + from_fixed(*in.lost) / in.count);
      in.ranks[v] = after;
      in.received[v] = 0;
      change = to_fixed(after < before ? before - after : after - before);
    }
    sync::add_up(simt::warp(), in.change, change);
  }
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
