// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

void add_ticks(measurement& row, const std::string& name, const std::vector<std::uint32_t>& ticks) {
  const summary found = summarize_all({ticks.begin(), ticks.end()});
  row.add(name, found);
  row.add(name + "_variance", found.std * found.std);
}

}  // namespace

/// How long single calls take, while all others of the launch are made: on the fresh heap, and
/// after the iterations.
measurement measure_latency(const case_run& c) {
  const auto heap = open_heap(c);
  block_table blocks(c.on, batch_of(c.chosen, c.chosen.threads));
  const std::uint64_t count = blocks.batch().count;
  const device_array<std::uint32_t> malloc_ticks(c.on, count);
  const device_array<std::uint32_t> free_ticks(c.on, count);
  tally wrong;
  measurement row;
  for (std::uint64_t run = 0; run <= c.chosen.iterations; ++run) {
    heap->allocate_clocked(blocks.batch(), blocks.addresses(), malloc_ticks.data());
    blocks.write();
    wrong.add(blocks.examine(c.manager.alignment));
    heap->release_clocked(count, blocks.addresses(), free_ticks.data());
    if (!c.manager.frees) heap->reset();
    if (run != 0 && run != c.chosen.iterations) continue;
    const std::string when = run == 0 ? "fresh" : "warm";
    add_ticks(row, "malloc_ticks_" + when, malloc_ticks.to_host());
    add_ticks(row, "free_ticks_" + when, free_ticks.to_host());
  }
  wrong.put_into(row);
  return row;
}

}  // namespace warpheap::bench
