// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/support.hpp"
#include "bench/workloads/graph/dump.hpp"
#include "bench/workloads/graph/edge_set.hpp"
#include "bench/workloads/graph/runner.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace warpheap::bench {

/// Parameters and fields of the cases of the dynamic graph.
namespace dynamic_graphs {

inline constexpr parameter<std::string_view> adjacency{
    {.name = "adjacency",
     .about = "'blocks': sorted, in one block that is a power of two; 'pages': chained pages",
     .role = field_role::facet,
     .phrase = "adjacencies in {}"},
    {.choices = {"blocks", "pages"}},
    "blocks"};
inline constexpr parameter<std::uint64_t> adjacency_page{
    {.name = "adjacency_page",
     .unit = "bytes",
     .about = "a page of an adjacency in pages, with its head of 16 bytes",
     .role = field_role::facet},
    {.least = 32, .most = 1 << 20}};
inline constexpr parameter<std::uint64_t> batch{{.name = "batch",
                                                 .unit = "edges",
                                                 .about = "edges of an update",
                                                 .role = field_role::axis,
                                                 .phrase = "{} edges an update"},
                                                {.least = 1, .most = 1 << 30}};
inline constexpr parameter<std::string_view> overfull{
    {.name = "overfull",
     .about = "what happens when edges find no memory: 'skip' the row, or 'go_on' without them",
     .role = field_role::detail},
    {.choices = {"skip", "go_on"}},
    "skip"};
inline constexpr parameter<std::string_view> dump{
    {.name = "dump",
     .unit = "file",
     .about = "where to write the edges after each update, as JSON lines; '-': nowhere",
     .role = field_role::detail},
    {},
    "-"};

inline constexpr field<summary> insert_ms{
    {.name = "insert_ms", .unit = "ms", .about = "inserting a batch", .better = "less"}};
inline constexpr field<std::uint64_t> edges{{.name = "edges_at_end",
                                             .unit = "edges",
                                             .about = "of the graph, directed",
                                             .role = field_role::detail}};
inline constexpr field<std::uint64_t> refused{{.name = "refused_edges",
                                               .unit = "edges",
                                               .about = "for which there was no memory",
                                               .role = field_role::detail}};
inline constexpr field<std::uint64_t> peak_bytes{
    {.name = "peak_block_bytes",
     .unit = "bytes",
     .about = "of all adjacencies' blocks, the most after an update",
     .better = "less"}};
inline constexpr field<double> pagerank_ms{
    {.name = "pagerank_ms", .unit = "ms", .about = "PageRank to 1e-6", .better = "less"}};
inline constexpr field<double> update_bandwidth{
    {.name = "update_bandwidth",
     .unit = "GB/s",
     .about = "inserting the last batch again: targets of its sources before and after, over the "
              "time",
     .better = "more"}};
inline constexpr field<double> update_malloc_share{
    {.name = "update_malloc_share",
     .unit = "share",
     .about = "the warps' time in malloc: deleting the last batch and inserting it again, on "
              "the multiprocessors' clock",
     .better = "less"}};
inline constexpr field<double> update_free_share{{.name = "update_free_share",
                                                  .unit = "share",
                                                  .about = "the warps' time in free",
                                                  .better = "less"}};
inline constexpr field<std::uint64_t> leaked_blocks{
    {.name = "leaked_blocks", .unit = "blocks", .about = "in use after the graph was destroyed"}};

/// The parameters of every case that updates a graph, after those of its own.
inline std::vector<case_parameter> with_updates(std::vector<case_parameter> own) {
  own.insert(own.end(), {{&adjacency, "blocks"},
                         {&adjacency_page, "64"},
                         {&given::rounds, "10"},
                         {&given::heap_bytes, ""},
                         {&given::seed, "1"},
                         {&overfull, "skip"},
                         {&dump, "-"}});
  return own;
}

}  // namespace dynamic_graphs

/// A dynamic graph beside the set of edges that it should hold.
template <graph_data::layout L>
class measured_graph {
 public:
  measured_graph(const case_run& c, test_heap& heap, std::uint32_t vertices, graph_dump& dump)
      : c_(c),
        runner_(c.on, heap),
        graph_(runner_, vertices,
               static_cast<std::uint32_t>(c.chosen[dynamic_graphs::adjacency_page])),
        dump_(dump) {
    warm_up();
  }

  /// The edges that should be there, ascending.
  const graph_keys& expected() {
    const graph_keys& all = expected_.all();
    wrong_ += all.size() != edges_;
    edges_ = all.size();
    return all;
  }

  /// Repeats the last batch for the fields that describe an update, and checks the graph once more.
  /// Returns the fields that all cases have.
  void put_into(measurement& row, tally& found) {
    const std::uint64_t targets_after = expected_.targets_of_sources(last_batch_);
    erase(last_batch_);
    const std::uint64_t targets_before = expected_.targets_of_sources(last_batch_);
    const double ms = insert(last_batch_);
    const auto bytes =
        static_cast<double>((targets_before + targets_after) * sizeof(std::uint32_t));
    const call_time time = metered_time();
    check();
    row.add(dynamic_graphs::update_bandwidth, bytes / ms / 1e6);
    row.add(dynamic_graphs::update_malloc_share, time.malloc_share());
    row.add(dynamic_graphs::update_free_share, time.free_share());
    row.add(dynamic_graphs::pagerank_ms, pagerank().ms);
    row.add(dynamic_graphs::edges, std::uint64_t{expected().size()});
    row.add(dynamic_graphs::refused, refused_);
    row.add(dynamic_graphs::peak_bytes, peak_bytes_);
    found.add_corrupted(wrong_);
  }

  /// Returns milliseconds. \throws not_claimed if there is no memory and the case does not go on
  /// without
  double insert(graph_keys keys) {
    graph::edge_batch batch = graph::make_batch(std::move(keys), graph_.vertices());
    const graph::update_result done = graph_.insert(batch);
    graph_keys served;
    std::set_difference(batch.keys.begin(), batch.keys.end(), done.refused.begin(),
                        done.refused.end(), std::back_inserter(served));
    expected_.add(std::move(served));
    edges_ += done.changed;
    peak_bytes_ = std::max(peak_bytes_, graph_.block_bytes());
    refused_ += done.refused.size();
    if (!done.refused.empty() && c_.chosen[dynamic_graphs::overfull] == "skip") {
      throw not_claimed(std::to_string(done.refused.size()) + " of " +
                        std::to_string(batch.keys.size()) +
                        " edges found no memory: the adjacencies of the others take " +
                        std::to_string(peak_bytes_) + " bytes, and the heap has " +
                        std::to_string(c_.chosen[given::heap_bytes]) + " bytes");
    }
    write("insert", batch.keys, done.refused);
    last_batch_ = std::move(batch.keys);
    return done.ms;
  }

  double erase(graph_keys keys) {
    const graph::edge_batch batch = graph::make_batch(std::move(keys), graph_.vertices());
    const graph::update_result done = graph_.erase(batch);
    expected_.remove(batch.keys);
    edges_ -= done.changed;
    write("delete", batch.keys, {});
    return done.ms;
  }

  /// Compares all edges with those that should be there.
  void check() {
    graph_keys different;
    const graph_keys found = graph_.edges();
    std::set_symmetric_difference(found.begin(), found.end(), expected().begin(), expected().end(),
                                  std::back_inserter(different));
    wrong_ += different.size();
  }

  auto pagerank() {
    const auto ranks = graph_.pagerank();
    if (dump_.wanted()) dump_.write_ranks(graph_.pagerank(0.85, 1e-10, 1000).of);
    return ranks;
  }
  auto triangles() {
    const auto found = graph_.triangles();
    dump_.write_triangles(found.triangles);
    return found;
  }

 private:
  /// Shares of deleting the last batch and inserting it again; nothing if lanes have no clock.
  call_time metered_time() {
    const device_array<call_time> time(c_.on, 1);
    if (c_.on.info().has_clock) {
      runner_.meter(time.data());
      erase(last_batch_);
      insert(last_batch_);
      runner_.meter(nullptr);
    }
    return time.to_host().front();
  }

  /// Loads the kernels, so that the first measured launch is not the one that loads them.
  void warm_up() {
    const graph::edge_batch loop = graph::make_batch({0}, 1);
    graph_.insert(loop);
    graph_.erase(loop);
    graph_.clear();
  }

  void write(const char* operation, const graph_keys& batch, const graph_keys& refused) {
    if (dump_.wanted()) {
      dump_.write_update(operation, graph_.vertices(), batch, refused, graph_.edges());
    }
  }

  const case_run& c_;
  graph_runner runner_;
  graph::dynamic_graph<graph_runner, L> graph_;
  graph_dump& dump_;
  edge_set expected_;
  /// The number of edges, as counted by the updates.
  std::uint64_t edges_ = 0;
  /// The last batch that was inserted.
  graph_keys last_batch_;
  std::uint64_t refused_ = 0;
  std::uint64_t wrong_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

/// The blocks that the graph has left in its heap, which must be none, and the count of all errors.
inline void put_heap_into(measurement& row, tally& found, test_heap& heap) {
  const heap_state left = heap.state();
  found.add_corrupted(left.broken_invariants);
  found.add_corrupted(left.blocks_in_use);
  found.put_into(row);
  row.add(dynamic_graphs::leaked_blocks, left.blocks_in_use);
}

/// Calls `f` with the chosen layout.
template <class F>
void with_layout(const case_run& c, const F& f) {
  if (c.chosen[dynamic_graphs::adjacency] == "pages") {
    f(std::integral_constant<graph_data::layout, graph_data::layout::pages>{});
  } else {
    f(std::integral_constant<graph_data::layout, graph_data::layout::blocks>{});
  }
}

/// Bytes of the largest block that the adjacencies need. \param most_targets() the most targets of
/// a vertex; only called if that matters
template <class MostTargets>
std::uint64_t largest_block_of(const case_run& c, const MostTargets& most_targets) {
  if (c.chosen[dynamic_graphs::adjacency] == "pages") {
    return c.chosen[dynamic_graphs::adjacency_page];
  }
  return std::bit_ceil(std::max<std::uint64_t>(most_targets() * sizeof(std::uint32_t), 16));
}

}  // namespace warpheap::bench
