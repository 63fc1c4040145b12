// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"
#include "bench/host/csr.hpp"

#include <vector>

namespace warpheap::bench {

measurement measure_graph_init(const case_run& c) {
  const csr_graph graph = read_csr(c.chosen.graph);
  if (graph.entries() == 0) throw usage_error(c.chosen.graph + ": the graph has no edges");
  const auto heap = open_heap(c, graph.largest_degree() * sizeof(std::uint32_t));
  const device_array<std::uint64_t> offsets(c.on, graph.offsets);
  const device_array<std::uint32_t> neighbours(c.on, graph.neighbours);
  request_batch batch;
  batch.threads = batch.count = graph.nodes();
  batch.offsets = offsets.data();
  const device_array<std::uint64_t> addresses(c.on, graph.nodes());
  const adjacency_table table{graph.nodes(), offsets.data(), neighbours.data(), addresses.data()};
  tally wrong;
  std::uint64_t intact = 0;
  std::vector<double> malloc_ms;
  std::vector<double> write_ms;
  std::vector<double> free_ms;
  for (std::uint64_t run = 0; run <= c.chosen.iterations; ++run) {
    malloc_ms.push_back(heap->allocate(batch, addresses.data()));
    write_ms.push_back(c.on.write_adjacencies(table));
    const block_report report =
        c.on.examine_blocks(batch, addresses.data(), c.manager.alignment, false);
    const std::uint64_t damaged = c.on.count_wrong_adjacencies(table);
    wrong.add(report);
    wrong.add_corrupted(damaged);
    if (run == 0) {
      // Whole adjacencies are compared, so that overlaps show; this finds those of equal contents.
      wrong.add_corrupted(count_overlaps(addresses.to_host(), [&](std::uint64_t v) {
        return (graph.offsets[v + 1] - graph.offsets[v]) * sizeof(std::uint32_t);
      }));
      intact = report.served - damaged;
    }
    free_ms.push_back(heap->release(graph.nodes(), {}, addresses.data()));
    if (!c.manager.frees) heap->reset();
  }
  measurement row;
  wrong.put_into(row);
  row.malloc_ms = summarize_warm(malloc_ms);
  row.free_ms = summarize_warm(free_ms);
  row.add("write_ms", summarize_warm(write_ms));
  row.add("nodes", graph.nodes());
  row.add("entries", graph.entries());
  row.add("largest_degree", graph.largest_degree());
  row.add("intact_adjacencies", intact);
  return row;
}

}  // namespace warpheap::bench
