// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/graph/measured_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr parameter<std::uint64_t> scale{{.name = "scale",
                                          .unit = "levels",
                                          .about = "the R-MAT graph has 2^scale vertices",
                                          .role = field_role::facet,
                                          .phrase = "R-MAT scale {}"},
                                         {.least = 1, .most = 31}};
constexpr field<double> total_ms{{.name = "expand_ms",
                                  .unit = "ms",
                                  .about = "inserting all batches, without making them",
                                  .better = "less"}};

/// Batch number `round` of the generated edges.
graph_keys generate(const case_run& c, std::uint64_t round) {
  const std::uint64_t count = c.chosen[dynamic_graphs::batch];
  const device_array<std::uint64_t> keys(c.on, count);
  c.on.launch(count, graph_data::rmat_request{c.chosen[given::seed], round * count, count,
                                              static_cast<int>(c.chosen[scale]), keys.data()});
  return keys.to_host();
}

/// The length of the longest adjacency after all batches, including duplicates.
std::uint64_t most_targets(const case_run& c) {
  std::vector<std::uint32_t> degrees(std::uint64_t{1} << c.chosen[scale]);
  for (std::uint64_t round = 0; round < c.chosen[given::rounds]; ++round) {
    for (const std::uint64_t key : generate(c, round)) ++degrees[key >> 32];
  }
  return *std::max_element(degrees.begin(), degrees.end());
}

measurement measure_graph_expand(const case_run& c) {
  const auto vertices = static_cast<std::uint32_t>(std::uint64_t{1} << c.chosen[scale]);
  graph_dump dump{std::string(c.chosen[dynamic_graphs::dump])};
  const auto heap = open_heap(c, largest_block_of(c, [&] { return most_targets(c); }));
  measurement row;
  tally wrong;
  with_layout(c, [&](auto layout) {
    measured_graph<layout> graph(c, *heap, vertices, dump);
    std::vector<double> inserting;
    double sum = 0;
    for (std::uint64_t round = 0; round < c.chosen[given::rounds]; ++round) {
      inserting.push_back(graph.insert(generate(c, round)));
      sum += inserting.back();
    }
    row.add(dynamic_graphs::insert_ms, summarize_all(inserting));
    row.add(total_ms, sum);
    graph.put_into(row, wrong);
  });
  put_heap_into(row, wrong, *heap);
  return row;
}

const case_registration graph_expand{
    {.name = "graph_expand",
     .about = "a dynamic graph grows by batches of R-MAT edges (Graph500 parameters)",
     .parameters =
         dynamic_graphs::with_updates({{&dynamic_graphs::batch, "10000"}, {&scale, "14"}}),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&dynamic_graphs::insert_ms, &total_ms, &dynamic_graphs::pagerank_ms,
                &dynamic_graphs::update_bandwidth, &dynamic_graphs::update_malloc_share,
                &dynamic_graphs::update_free_share, &dynamic_graphs::edges,
                &dynamic_graphs::refused, &dynamic_graphs::peak_bytes,
                &dynamic_graphs::leaked_blocks},
     .run = measure_graph_expand}};

}  // namespace

}  // namespace warpheap::bench
