// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <vector>

namespace warpheap::bench {

namespace {

constexpr std::uint64_t filling_threads = 65536;

constexpr field<summary> failing_ms{{.name = "failing_ms",
                                     .unit = "ms",
                                     .about = "a launch on the full heap whose requests all fail",
                                     .better = "less"}};
constexpr field<std::uint64_t> failed_requests{{.name = "failed_requests",
                                                .unit = "requests",
                                                .about = "that got null in the last launch",
                                                .role = field_role::detail}};

/// Requests that cannot be served must not cost more than those that can.
measurement measure_failing(const case_run& c) {
  const auto heap = open_heap(c);
  const heap_fill filled = fill_heap(c, *heap, filling_threads);
  filled.blocks.write();
  request_batch surplus = batch_of(c.chosen, c.chosen[given::threads]);
  surplus.first = filled.blocks.batch().count;
  const block_table extra(c.on, surplus);
  tally wrong;
  std::vector<double> times;
  std::uint64_t nulls = 0;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    // The filling stops at its first null; what is left over goes in the first of these launches.
    times.push_back(allocate(*heap, surplus, extra.addresses()));
    const block_report got = extra.examine(c.manager.alignment, false);
    wrong.add(got);
    nulls = got.nulls;
  }
  const block_report held = filled.blocks.examine(c.manager.alignment);
  wrong.add(held);
  measurement row;
  wrong.put_into(row);
  row.add(fields::blocks, held.served);
  row.add(failing_ms, summarize_warm(times));
  row.add(failed_requests, nulls);
  row.add(fields::longest_ms, longest_of({times}));
  return row;
}

const case_registration failing{
    {.name = "failing",
     .about = "a launch of requests that all fail, on a full heap",
     .parameters = with_sizes({{&given::threads, "1048576"}, {&given::iterations, "10"}}, "64"),
     .needs = {&needs::bytes, &needs::runs_out},
     .fields = {&fields::blocks, &failing_ms, &failed_requests, &fields::longest_ms},
     .run = measure_failing,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
