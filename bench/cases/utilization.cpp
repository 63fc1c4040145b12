// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

namespace warpheap::bench {

namespace {

constexpr field<std::uint64_t> bytes{
    {.name = "bytes", .unit = "bytes", .about = "asked for by the blocks of the full heap"}};
constexpr field<std::uint64_t> launches{{.name = "launches",
                                         .unit = "launches",
                                         .about = "until the first null",
                                         .role = field_role::detail}};

measurement measure_utilization(const case_run& c) {
  const auto heap = open_heap(c);
  const heap_fill filled = fill_heap(c, *heap, c.chosen[given::threads]);
  filled.blocks.write();
  const block_report report = filled.blocks.examine(c.manager.alignment);
  tally wrong;
  wrong.add(report);
  measurement row;
  wrong.put_into(row);
  row.add(fields::blocks, report.served);
  row.add(bytes, report.bytes);
  row.add(launches, filled.launches);
  row.add(fields::fill_ms, filled.ms);
  row.add(fields::longest_ms, filled.longest_ms);
  row.add(fields::utilization,
          static_cast<double>(report.bytes) / static_cast<double>(c.chosen[given::heap_bytes]));
  return row;
}

const case_registration utilization{
    {.name = "utilization",
     .about = "share of the heap that is handed out at the first null",
     .parameters = with_sizes({{&given::threads, "100000"}}),
     .needs = {&needs::bytes, &needs::runs_out},
     .fields = {&fields::blocks, &bytes, &launches, &fields::fill_ms, &fields::longest_ms,
                &fields::utilization},
     .run = measure_utilization,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
