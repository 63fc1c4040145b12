// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<summary> null_ms{{.name = "null_ms",
                                  .unit = "ms",
                                  .about = "a launch on the full heap, until all have their null",
                                  .better = "less"}};
constexpr field<std::uint64_t> surplus_served{
    {.name = "surplus_served", .unit = "blocks", .about = "handed out by those launches"}};
constexpr field<double> recovered_share{
    {.name = "recovered_share",
     .unit = "share",
     .about = "blocks after everything was freed over blocks before",
     .better = "more"}};

/// Fills the heap, then lets a launch ask for what is not there: all of its threads must get their
/// null. Afterwards everything is freed and the heap filled again.
measurement measure_exhaustion(const case_run& c) {
  const auto heap = open_heap(c);
  const std::uint64_t threads = c.chosen[given::threads];
  tally wrong;
  heap_fill filled = fill_heap(c, *heap, threads);
  filled.blocks.write();
  std::vector<double> times;
  std::uint64_t extra_served = 0;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    request_batch surplus = batch_of(c.chosen, threads);
    surplus.first = filled.blocks.batch().count;
    const block_table extra(c.on, surplus);
    times.push_back(allocate(*heap, surplus, extra.addresses()));
    extra.write();
    const block_report got = extra.examine(c.manager.alignment);
    wrong.add(got);
    extra_served += got.served;
    if (got.served != 0) free_blocks(*heap, threads, extra.addresses());
  }
  const block_report before = filled.blocks.examine(c.manager.alignment);
  wrong.add(before);
  measurement row;
  row.add(fields::blocks, before.served);
  row.add(fields::fill_ms, filled.ms);
  row.add(null_ms, summarize_warm(times));
  row.add(surplus_served, extra_served);
  if (c.manager.frees) {
    free_blocks(*heap, filled.blocks.batch().count, filled.blocks.addresses());
  } else {
    heap->reset();
  }
  const heap_fill second = fill_heap(c, *heap, threads);
  second.blocks.write();
  const block_report after = second.blocks.examine(c.manager.alignment);
  wrong.add_corrupted(after.corrupted + after.misaligned);
  row.add(fields::refilled_blocks, after.served);
  row.add(fields::refill_ms, second.ms);
  row.add(fields::longest_ms,
          std::max({filled.longest_ms, longest_of({times}), second.longest_ms}));
  row.add(recovered_share, before.served == 0 ? std::optional<double>()
                                              : static_cast<double>(after.served) /
                                                    static_cast<double>(before.served));
  wrong.put_into(row);
  return row;
}

const case_registration exhaustion{
    {.name = "exhaustion",
     .about = "requests to a full heap until all have their null, then recovery",
     .parameters = with_sizes({{&given::threads, "100000"}, {&given::iterations, "10"}}),
     .needs = {&needs::bytes, &needs::runs_out},
     .fields = {&fields::blocks, &fields::fill_ms, &null_ms, &surplus_served,
                &fields::refilled_blocks, &fields::refill_ms, &fields::longest_ms,
                &recovered_share},
     .run = measure_exhaustion,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
