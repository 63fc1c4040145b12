// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cases/latency/requests.hpp"
#include "bench/host/support.hpp"

#include <vector>

namespace warpheap::bench {

namespace {

/// What is said of one operation on one state of the heap.
struct tick_fields {
  field<summary> ticks;
  field<double> variance;
};

constexpr tick_fields ticks_of(const char* name, const char* variance, const char* about) {
  return {field<summary>{{.name = name, .unit = "clock ticks", .about = about, .better = "less"}},
          field<double>{{.name = variance,
                         .unit = "clock ticks squared",
                         .about = "variance of the same",
                         .role = field_role::detail}}};
}

constexpr tick_fields malloc_fresh =
    ticks_of("malloc_ticks_fresh", "malloc_ticks_fresh_variance", "single mallocs, fresh heap");
constexpr tick_fields free_fresh =
    ticks_of("free_ticks_fresh", "free_ticks_fresh_variance", "single frees, fresh heap");
constexpr tick_fields malloc_warm =
    ticks_of("malloc_ticks_warm", "malloc_ticks_warm_variance", "single mallocs, used heap");
constexpr tick_fields free_warm =
    ticks_of("free_ticks_warm", "free_ticks_warm_variance", "single frees, used heap");

void add_ticks(measurement& row, const tick_fields& what, const std::vector<std::uint32_t>& ticks) {
  const summary found = summarize_all({ticks.begin(), ticks.end()});
  row.add(what.ticks, found);
  row.add(what.variance, found.std * found.std);
}

/// How long single calls take, while all others of the launch are made: on the fresh heap, and
/// after the iterations.
measurement measure_latency(const case_run& c) {
  const auto heap = open_heap(c);
  block_table blocks(c.on, batch_of(c.chosen, c.chosen[given::threads]));
  const std::uint64_t count = blocks.batch().count;
  const device_array<std::uint32_t> malloc_ticks(c.on, count);
  const device_array<std::uint32_t> free_ticks(c.on, count);
  tally wrong;
  measurement row;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    heap->launch(blocks.batch().threads,
                 clocked_allocation{blocks.batch(), blocks.addresses(), malloc_ticks.data()});
    blocks.write();
    wrong.add(blocks.examine(c.manager.alignment));
    heap->launch(count, clocked_freeing{count, blocks.addresses(), free_ticks.data()});
    if (!c.manager.frees) heap->reset();
    if (run != 0 && run != c.chosen[given::iterations]) continue;
    add_ticks(row, run == 0 ? malloc_fresh : malloc_warm, malloc_ticks.to_host());
    add_ticks(row, run == 0 ? free_fresh : free_warm, free_ticks.to_host());
  }
  wrong.put_into(row);
  return row;
}

const case_registration latency{
    {.name = "latency",
     .about = "clock ticks of single calls, on a fresh and on a warm heap",
     .parameters = with_sizes({{&given::threads, "1024"}, {&given::iterations, "10"}}),
     .needs = {&needs::bytes, &needs::clock},
     .fields = {&malloc_fresh.ticks, &malloc_fresh.variance, &free_fresh.ticks,
                &free_fresh.variance, &malloc_warm.ticks, &malloc_warm.variance, &free_warm.ticks,
                &free_warm.variance},
     .run = measure_latency}};

}  // namespace

}  // namespace warpheap::bench
