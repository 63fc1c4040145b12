// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file The kernels that create, change and export a dynamic graph, each a functor with its
/// request. Kernels that compute something from it have their own files (pagerank.hpp,
/// triangles.hpp). Those that take a heap's handle change the graph; the others only read it, and
/// never run at the same time as one that changes it. Only one lane or one warp of a launch changes
/// a vertex, so there are no locks. Launch them with as many lanes as the request has vertices or
/// runs.

#include "warpheap/sync/group_sum.hpp"
#include "warpheap/workloads/graph/adjacency.hpp"
#include "warpheap/workloads/graph/requests.hpp"
#include "warpheap/workloads/graph/share_out.hpp"

#include <cstdint>
#include <new>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

template <layout L>
struct format_vertices {
  graph_data::formatting<L> in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t v = simt::thread_rank();
    if (v < in.graph.count) {
      new (&adjacency<L>(in.graph, v)) typename adjacency_of<L>::type(in.graph.page_bytes);
    }
  }
};

template <layout L>
struct insert_edges {
  graph_data::insertion<L> in;
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void operator()(const Heap& heap) const {
    std::uint64_t inserted = 0;
    const auto work_of = [this](std::uint64_t r) {
      return adjacency<L>(in.graph, in.edges.sources[r]).degree() + in.edges.offsets[r + 1] -
             in.edges.offsets[r];
    };
    share_out(in.edges.count, work_of, [&](const auto& members, std::uint64_t r) {
      const std::uint64_t begin = in.edges.offsets[r];
      const std::uint32_t source = in.edges.sources[r];
      std::uint32_t* const run = in.edges.targets + begin;
      auto& targets = adjacency<L>(in.graph, source);
      const std::uint32_t fresh = targets.keep_absent(
          members, run, static_cast<std::uint32_t>(in.edges.offsets[r + 1] - begin),
          in.edges.marks + begin);
      const std::uint32_t done = fresh == 0 ? 0 : targets.insert(heap, members, run, fresh);
      if (members.is_leader()) inserted += done;
      if (done < fresh) refuse(members, source, run + done, fresh - done);
    });
    sync::add_up(simt::warp(), &in.report->changed, inserted);
  }

 private:
  template <class Team>
  WARPHEAP_DEVICE void refuse(const Team& members, std::uint32_t source,
                              const std::uint32_t* targets, std::uint32_t count) const {
    std::uint64_t first = 0;
    if (members.is_leader()) {
      // Relaxed: the host reads it after the launch.
      first = simt::atomic_ref(in.report->refused).fetch_add(count, simt::order::relaxed);
    }
    first = members.broadcast(first);
    const auto step = static_cast<std::uint32_t>(members.size());
    for (auto i = static_cast<std::uint32_t>(members.rank()); i < count; i += step) {
      in.refused[first + i] = std::uint64_t{source} << 32 | targets[i];
    }
  }
};

template <layout L>
struct delete_edges {
  graph_data::deletion<L> in;
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void operator()(const Heap& heap) const {
    std::uint64_t deleted = 0;
    const auto work_of = [this](std::uint64_t r) {
      return std::uint64_t{adjacency<L>(in.graph, in.edges.sources[r]).degree()};
    };
    share_out(in.edges.count, work_of, [&](const auto& members, std::uint64_t r) {
      const std::uint64_t begin = in.edges.offsets[r];
      const std::uint32_t done =
          adjacency<L>(in.graph, in.edges.sources[r])
              .erase(heap, members, in.edges.targets + begin,
                     static_cast<std::uint32_t>(in.edges.offsets[r + 1] - begin));
      if (members.is_leader()) deleted += done;
    });
    sync::add_up(simt::warp(), &in.report->changed, deleted);
  }
};

template <layout L>
struct clear_vertices {
  graph_data::clearing<L> in;
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void operator()(const Heap& heap) const {
    const std::uint64_t v = simt::thread_rank();
    if (v < in.graph.count) adjacency<L>(in.graph, v).clear(heap);
  }
};

template <layout L>
struct measure_vertices {
  graph_data::measuring<L> in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t v = simt::thread_rank();
    const bool mine = v < in.graph.count;
    if (mine) in.degrees[v] = adjacency<L>(in.graph, v).degree();
    sync::add_up(simt::warp(), in.block_bytes, mine ? adjacency<L>(in.graph, v).block_bytes() : 0);
  }
};

template <layout L>
struct export_edges {
  graph_data::exporting<L> in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t v = simt::thread_rank();
    if (v >= in.graph.count) return;
    std::uint64_t at = in.offsets[v];
    adjacency<L>(in.graph, v).for_each(containers::lane_alone{}, [&](std::uint32_t target) {
      in.targets[at++] = target;
    });
  }
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
