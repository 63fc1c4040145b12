// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/workloads/graph/edge_batch.hpp"
#include "warpheap/workloads/graph/requests.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

using graph_data::layout;

/// What happened to a batch. The graph has all of its edges except those in `refused`.
struct update_result {
  /// Edges that were inserted or deleted; the others were already there, or were not there.
  std::uint64_t changed = 0;
  /// Keys of the edges for which there was no memory, ascending. Insert them again after freeing.
  std::vector<std::uint64_t> refused;
  /// Time of the launch that changes the graph, without sorting and copying the batch.
  double ms = 0;
};

/// A directed graph whose adjacencies are blocks of a heap: the host's side. A set of edges, like
/// that of `networkx.DiGraph`: loops are edges, and inserting an edge that exists changes nothing.
/// An undirected graph has both directions of each edge.
///
/// \tparam Runner where the graph lives: memory and launches of a machine, and a heap; the graph
///   keeps a reference. See `heap_runner`. `array<T>` is device memory that frees itself, made from
///   `(runner, size)` with all bytes 0 or from `(runner, std::vector<T>)`, with `data()` and
///   `to_host()`.
///   `launch(threads, request)` and `launch_on_heap(threads, request)` wait and return
///   milliseconds.
template <class Runner, layout L>
class dynamic_graph {
  template <class T>
  using array = typename Runner::template array<T>;

 public:
  /// A graph of the vertices from 0 to `vertices - 1`, without edges.
  /// \param page_bytes size of the pages of the layout `pages`, at least 32
  dynamic_graph(Runner& on, std::uint32_t vertices, std::uint32_t page_bytes = 64)
      : on_(on), adjacencies_(on, vertices * graph_data::adjacency_bytes(L)) {
    table_ = {adjacencies_.data(), vertices, page_bytes};
    on_.launch(vertices, graph_data::formatting<L>{table_});
  }
  dynamic_graph(const dynamic_graph&) = delete;
  dynamic_graph& operator=(const dynamic_graph&) = delete;
  ~dynamic_graph() { clear(); }

  std::uint32_t vertices() const { return table_.count; }

  /// Inserts a batch. With the layout `blocks`, a vertex gets all of its new edges or none; with
  /// the layout `pages`, as many as there is memory for.
  update_result insert(const edge_batch& batch) {
    if (batch.keys.empty()) return {};
    const on_device edges(on_, batch);
    const array<graph_data::update_report> report(on_, 1);
    const array<std::uint64_t> refused(on_, batch.keys.size());
    update_result result;
    result.ms = on_.launch_on_heap(
        edges.runs.count,
        graph_data::insertion<L>{table_, edges.runs, report.data(), refused.data()});
    const graph_data::update_report found = report.to_host().front();
    result.changed = found.changed;
    if (found.refused != 0) {
      result.refused = refused.to_host();
      result.refused.resize(found.refused);
      std::sort(result.refused.begin(), result.refused.end());
    }
    return result;
  }

  /// Deletes a batch. Needs no memory: if there is none, adjacencies keep their larger blocks.
  update_result erase(const edge_batch& batch) {
    if (batch.keys.empty()) return {};
    const on_device edges(on_, batch);
    const array<graph_data::update_report> report(on_, 1);
    update_result result;
    result.ms = on_.launch_on_heap(edges.runs.count,
                                   graph_data::deletion<L>{table_, edges.runs, report.data()});
    result.changed = report.to_host().front().changed;
    return result;
  }

  /// Deletes all edges and frees their blocks. Returns milliseconds.
  double clear() { return on_.launch_on_heap(table_.count, graph_data::clearing<L>{table_}); }

  /// Bytes of all blocks of the adjacencies, as requested.
  std::uint64_t block_bytes() const {
    std::uint64_t bytes = 0;
    degrees(&bytes);
    return bytes;
  }

  /// Keys of all edges, ascending.
  std::vector<std::uint64_t> edges() const {
    std::vector<std::uint64_t> offsets = degrees(nullptr);
    offsets.push_back(0);
    std::exclusive_scan(offsets.begin(), offsets.end(), offsets.begin(), std::uint64_t{0});
    const array<std::uint64_t> starts(on_, offsets);
    const array<std::uint32_t> targets(on_, offsets.back());
    on_.launch(table_.count, graph_data::exporting<L>{table_, starts.data(), targets.data()});
    const std::vector<std::uint32_t> all = targets.to_host();
    std::vector<std::uint64_t> keys;
    keys.reserve(all.size());
    for (std::uint32_t v = 0; v < table_.count; ++v) {
      for (std::uint64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
        keys.push_back(graph_data::edge_key(v, all[i]));
      }
      // Pages are not sorted.
      std::sort(keys.end() - static_cast<std::ptrdiff_t>(offsets[v + 1] - offsets[v]), keys.end());
    }
    return keys;
  }

  struct page_ranks {
    std::vector<double> of;
    std::uint32_t iterations = 0;
    double ms = 0;
  };

  /// PageRank by power iteration, as NetworkX defines it: vertices without targets give their rank
  /// to all vertices; the iteration ends when the changes of the ranks add up to less than
  /// `vertices * tolerance`.
  page_ranks pagerank(double damping = 0.85, double tolerance = 1e-6,
                      std::uint32_t most_iterations = 100) const {
    const std::uint32_t count = table_.count;
    const array<double> ranks(on_, std::vector<double>(count, 1.0 / count));
    const array<std::uint64_t> received(on_, count);
    page_ranks result;
    for (double change = 1; change >= count * tolerance && result.iterations < most_iterations;
         ++result.iterations) {
      const array<std::uint64_t> lost(on_, 1);
      const array<std::uint64_t> moved(on_, 1);
      result.ms += on_.launch(
          count, graph_data::rank_pushing<L>{table_, ranks.data(), received.data(), lost.data()});
      result.ms +=
          on_.launch(count, graph_data::rank_updating{count, damping, ranks.data(), received.data(),
                                                      lost.data(), moved.data()});
      change = std::ldexp(static_cast<double>(moved.to_host().front()), -60);
    }
    result.of = ranks.to_host();
    return result;
  }

  struct triangle_count {
    std::uint64_t triangles = 0;
    double ms = 0;
  };

  /// The number of triangles of an undirected graph, ignoring loops.
  triangle_count triangles() const {
    const array<std::uint64_t> found(on_, 1);
    triangle_count result;
    result.ms = on_.launch(table_.count, graph_data::triangle_counting<L>{table_, found.data()});
    result.triangles = found.to_host().front();
    return result;
  }

 private:
  /// A batch in device memory.
  struct on_device {
    on_device(Runner& on, const edge_batch& batch) : on_device(on, run_arrays(batch)) {}
    on_device(Runner& on, const run_arrays& from)
        : sources(on, from.sources),
          offsets(on, from.offsets),
          targets(on, from.targets),
          marks(on, L == layout::pages ? from.targets.size() : 0),
          runs{static_cast<std::uint32_t>(from.sources.size()), sources.data(), offsets.data(),
               targets.data(), marks.data()} {}
    array<std::uint32_t> sources;
    array<std::uint64_t> offsets;
    array<std::uint32_t> targets;
    array<std::uint32_t> marks;
    graph_data::edge_runs runs;
  };

  std::vector<std::uint64_t> degrees(std::uint64_t* block_bytes) const {
    const array<std::uint64_t> of(on_, table_.count);
    const array<std::uint64_t> bytes(on_, 1);
    on_.launch(table_.count, graph_data::measuring<L>{table_, of.data(), bytes.data()});
    if (block_bytes != nullptr) *block_bytes = bytes.to_host().front();
    return of.to_host();
  }

  Runner& on_;
  array<std::byte> adjacencies_;
  graph_data::vertex_table table_;
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
