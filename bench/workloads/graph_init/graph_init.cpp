// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"
#include "bench/workloads/graph_init/csr.hpp"
#include "bench/workloads/graph_init/fields.hpp"
#include "bench/workloads/graph_init/requests.hpp"
#include "bench/workloads/shares.hpp"

#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<summary> write_ms{
    {.name = "write_ms", .unit = "ms", .about = "writing the adjacencies", .better = "less"}};
constexpr field<std::uint64_t> intact_adjacencies{
    {.name = "intact_adjacencies",
     .unit = "blocks",
     .about = "that hold what the graph has, in the first run",
     .role = field_role::detail}};

/// How many adjacencies are wrong.
std::uint64_t count_wrong(machine& on, const adjacency_table& table) {
  const device_array<std::uint64_t> wrong(on, 1);
  on.launch(table.nodes, adjacency_check{table, wrong.data()});
  return wrong.to_host().front();
}

measurement measure_graph_init(const case_run& c) {
  const std::string file(c.chosen[graph_path].path);
  const csr_graph graph = read_csr(file);
  if (graph.entries() == 0) throw usage_error(file + ": the graph has no edges");
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
  program_times times;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    times.malloc_ms.push_back(allocate(*heap, batch, addresses.data()));
    times.write_ms.push_back(c.on.launch(table.nodes, adjacency_writing{table}));
    const block_report report =
        examine_blocks(c.on, batch, addresses.data(), c.manager.alignment, false);
    const std::uint64_t damaged = count_wrong(c.on, table);
    wrong.add(report);
    times.bytes.push_back(static_cast<double>(report.bytes));
    wrong.add_corrupted(damaged);
    if (run == 0) {
      // Whole adjacencies are compared, so that overlaps show; this finds those of equal contents.
      wrong.add_corrupted(count_overlaps(addresses.to_host(), [&](std::uint64_t v) {
        return (graph.offsets[v + 1] - graph.offsets[v]) * sizeof(std::uint32_t);
      }));
      intact = report.served - damaged;
    }
    times.free_ms.push_back(free_blocks(*heap, graph.nodes(), addresses.data()));
    if (!c.manager.frees) heap->reset();
  }
  measurement row;
  wrong.put_into(row);
  row.add(fields::malloc_ms, summarize_warm(times.malloc_ms));
  add_free(row, c.manager, times.free_ms);
  add_shares(row, c.manager, times);
  row.add(write_ms, summarize_warm(times.write_ms));
  row.add(nodes, graph.nodes());
  row.add(entries, graph.entries());
  row.add(largest_degree, graph.largest_degree());
  row.add(intact_adjacencies, intact);
  return row;
}

const case_registration graph_init{
    {.name = "graph_init",
     .about = "every vertex allocates its adjacency and writes it",
     .parameters = {{&graph_path, ""},
                    {&given::heap_bytes, ""},
                    {&given::iterations, "10"},
                    {&given::seed, "1"}},
     .needs = {&needs::bytes},
     .fields = {&write_ms, &fields::whole_bandwidth, &fields::malloc_time_share,
                &fields::free_share, &nodes, &entries, &largest_degree, &intact_adjacencies},
     .run = measure_graph_init}};

}  // namespace

}  // namespace warpheap::bench
