// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"
#include "warpheap/core/align.hpp"

#include <algorithm>

namespace warpheap::bench {

namespace {

constexpr parameter<std::uint64_t> first_size{{.name = "first_size",
                                               .unit = "bytes",
                                               .about = "size of the blocks of the first phase",
                                               .role = field_role::facet,
                                               .phrase = "{} first"},
                                              {.least = 1, .most = std::uint64_t{1} << 40}};
constexpr parameter<double> first_percent{
    {.name = "first_percent",
     .unit = "%",
     .about = "share of the heap that the blocks of the first phase ask for",
     .role = field_role::facet,
     .phrase = "{} of the heap first"},
    {.least = 0, .most = 100}};
constexpr field<std::uint64_t> first_blocks{{.name = "first_blocks",
                                             .unit = "blocks",
                                             .about = "handed out in the first phase",
                                             .role = field_role::detail}};

/// A part of the heap is asked for in blocks of one size, which stay; then blocks of other sizes
/// are, until the first null. What classes of sizes keep for themselves is missing then.
measurement measure_phases(const case_run& c) {
  const std::uint64_t bytes = c.chosen[given::heap_bytes];
  const std::uint64_t threads = c.chosen[given::threads];
  const auto heap = open_heap(c, std::max(c.chosen[first_size], c.chosen[given::size_max]));
  const auto share =
      static_cast<std::uint64_t>(static_cast<double>(bytes) / 100 * c.chosen[first_percent]);
  request_batch wanted = batch_of(c.chosen, ceil_div(share, c.chosen[first_size]));
  wanted.size_min = wanted.size_max = c.chosen[first_size];
  const heap_fill first = fill_heap(c, *heap, threads, wanted);
  first.blocks.write();
  block_report late;
  double longest = first.longest_ms;
  // A heap that is exhausted by the first phase has no second one.
  if (first.nulls == 0) {
    const heap_fill then = fill_heap(c, *heap, threads);
    then.blocks.write();
    longest = std::max(longest, then.longest_ms);
    late = then.blocks.examine(c.manager.alignment);
  }
  // Now, because the later blocks could lie over these.
  const block_report early = first.blocks.examine(c.manager.alignment);
  tally wrong;
  wrong.add(early);
  wrong.add(late);
  measurement row;
  wrong.put_into(row);
  row.add(first_blocks, early.served);
  row.add(fields::blocks, late.served);
  row.add(fields::longest_ms, longest);
  row.add(fields::utilization,
          static_cast<double>(early.bytes + late.bytes) / static_cast<double>(bytes));
  return row;
}

const case_registration phases{
    {.name = "phases",
     .about = "share of the heap that is handed out at the first null, if blocks of another size "
              "were asked for first",
     .parameters = with_sizes(
         {{&given::threads, "100000"}, {&first_size, "64"}, {&first_percent, "30"}}, "4096"),
     .needs = {&needs::bytes, &needs::runs_out},
     .fields = {&first_blocks, &fields::blocks, &fields::longest_ms, &fields::utilization},
     .run = measure_phases,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
