// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The kernels of the dynamic graph, each a functor with its request. Those that take a heap's
/// handle change the graph; the others only read it, and never run at the same time as one that
/// changes it. A vertex is changed by one lane or one warp of a launch, so there are no locks.
/// Launch them with as many lanes as the request has vertices or runs.

#include "warpheap/workloads/graph/block_adjacency.hpp"
#include "warpheap/workloads/graph/paged_adjacency.hpp"
#include "warpheap/workloads/graph/requests.hpp"
#include "warpheap/workloads/graph/share_out.hpp"

#include <cstdint>
#include <new>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

using graph_data::layout;

template <layout L>
struct adjacency_of;
template <>
struct adjacency_of<layout::blocks> {
  using type = block_adjacency;
};
template <>
struct adjacency_of<layout::pages> {
  using type = paged_adjacency;
};

static_assert(sizeof(block_adjacency) == graph_data::adjacency_bytes(layout::blocks));
static_assert(sizeof(paged_adjacency) == graph_data::adjacency_bytes(layout::pages));

/// The adjacency of vertex `v`.
template <layout L>
WARPHEAP_DEVICE typename adjacency_of<L>::type& adjacency(const graph_data::vertex_table& of,
                                                          std::uint64_t v) {
  return static_cast<typename adjacency_of<L>::type*>(of.adjacencies)[v];
}

/// Adds what the warp's lanes have counted. A collective of the warp. Relaxed: the host reads it
/// after the launch.
WARPHEAP_DEVICE inline void add_up(std::uint64_t* sum, std::uint64_t mine) {
  const auto all = sync::sum_over(simt::warp(), mine);
  if (simt::warp().is_leader() && all.total != 0) {
    simt::atomic_ref(*sum).fetch_add(all.total, simt::order::relaxed);
  }
}

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
    add_up(&in.report->changed, inserted);
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
    add_up(&in.report->changed, deleted);
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
    add_up(in.block_bytes, mine ? adjacency<L>(in.graph, v).block_bytes() : 0);
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

/// Numbers with 60 bits behind the point: sums of them do not depend on the order in which lanes
/// add, so ranks are the same in every run.
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
    add_up(in.lost, lost);
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
    add_up(in.change, change);
  }
};

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
    add_up(in.found, found);
  }
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
