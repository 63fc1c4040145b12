// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cases/scattered_frees/requests.hpp"
#include "bench/host/support.hpp"

#include <algorithm>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr std::uint64_t most_filling_threads = 65536;

constexpr field<std::uint64_t> picked_blocks{
    {.name = "picked_blocks",
     .unit = "blocks",
     .about = "freed in a launch: one for each thread, half of the blocks at most",
     .role = field_role::detail}};

/// Neighbouring lanes free blocks at random places of a full heap, so that no two of them are
/// likely to share anything. The heap is filled anew for each launch.
measurement measure_scattered_frees(const case_run& c) {
  const auto heap = open_heap(c);
  const std::uint64_t threads = c.chosen[given::threads];
  const std::uint64_t filling_threads = std::min(threads, most_filling_threads);
  tally wrong;
  std::vector<double> free_ms;
  std::uint64_t blocks = 0;
  std::uint64_t picks = 0;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    const heap_fill filled = fill_heap(c, *heap, filling_threads);
    const block_table& table = filled.blocks;
    table.write();
    const block_report full = table.examine(c.manager.alignment);
    wrong.add(full);
    blocks = full.served;
    // All nulls are among the requests of the last launch.
    const std::uint64_t surely_served = table.batch().count - filling_threads;
    picks = std::min(threads, surely_served / 2);
    if (picks == 0 && run != 0) throw error("the heap was emptied and then served no block");
    if (picks == 0) throw too_small_for(c, "two blocks for each thread of a launch");
    const device_array<std::uint64_t> picked(c.on, picks);
    c.on.launch(picks, block_picking{table.addresses(), surely_served, picks,
                                     c.chosen[given::seed] + run, picked.data()});
    free_ms.push_back(free_blocks(*heap, picks, picked.data()));
    const block_report rest = table.examine(c.manager.alignment);
    wrong.add_corrupted(rest.corrupted + (full.served - rest.served != picks ? 1 : 0));
    free_blocks(*heap, table.batch().count, table.addresses());
  }
  measurement row;
  wrong.put_into(row);
  row.add(fields::blocks, blocks);
  row.add(picked_blocks, picks);
  row.add(fields::free_ms, summarize_warm(free_ms));
  row.add(fields::null_free_ms, summarize_warm(free_nulls(c, *heap, picks)));
  row.add(fields::longest_ms, longest_of({free_ms}));
  return row;
}

const case_registration scattered_frees{
    {.name = "scattered_frees",
     .about = "a full heap, of which each thread frees a block at a random place",
     .parameters = with_sizes({{&given::threads, "1048576"}, {&given::iterations, "10"}}, "64"),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&fields::blocks, &picked_blocks, &fields::null_free_ms, &fields::longest_ms},
     .run = measure_scattered_frees,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
