// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <algorithm>
#include <optional>

namespace warpheap::bench {

namespace {

constexpr field<std::uint64_t> asked_bytes{{.name = "asked_bytes",
                                            .unit = "bytes",
                                            .about = "asked for in a round",
                                            .role = field_role::detail}};
constexpr field<std::uint64_t> range_bytes{
    {.name = "range_bytes", .unit = "bytes", .about = "range of the addresses of the first round"}};
constexpr field<std::uint64_t> range_bytes_last{
    {.name = "range_bytes_last", .unit = "bytes", .about = "the same of the last round"}};
constexpr field<std::uint64_t> range_bytes_largest{
    {.name = "range_bytes_largest", .unit = "bytes", .about = "the largest of all rounds"}};
constexpr field<double> range_over_bytes{{.name = "range_over_bytes",
                                          .unit = "ratio",
                                          .about = "range of addresses over the bytes asked for",
                                          .better = "less"}};
constexpr field<double> range_over_bytes_last{{.name = "range_over_bytes_last",
                                               .unit = "ratio",
                                               .about = "the same of the last round",
                                               .better = "less"}};
constexpr field<double> range_over_bytes_largest{{.name = "range_over_bytes_largest",
                                                  .unit = "ratio",
                                                  .about = "the largest of all rounds",
                                                  .better = "less"}};

measurement measure_fragmentation(const case_run& c) {
  const auto heap = open_heap(c);
  block_table blocks(c.on, batch_of(c.chosen, c.chosen[given::threads]));
  tally wrong;
  block_report first;
  block_report last;
  std::uint64_t largest = 0;
  for (std::uint64_t round = 0; round < c.chosen[given::rounds]; ++round) {
    allocate(*heap, blocks.batch(), blocks.addresses());
    blocks.write();
    last = blocks.examine(c.manager.alignment);
    wrong.add(last);
    if (round == 0) first = last;
    largest = std::max(largest, last.range());
    free_blocks(*heap, blocks.batch().count, blocks.addresses());
  }
  const auto over_bytes = [](std::uint64_t range, const block_report& of) {
    return of.bytes == 0 ? std::optional<double>()
                         : static_cast<double>(range) / static_cast<double>(of.bytes);
  };
  measurement row;
  wrong.put_into(row);
  row.add(asked_bytes, first.bytes);
  row.add(range_bytes, first.range());
  row.add(range_bytes_last, last.range());
  row.add(range_bytes_largest, largest);
  row.add(range_over_bytes, over_bytes(first.range(), first));
  row.add(range_over_bytes_last, over_bytes(last.range(), last));
  row.add(range_over_bytes_largest, over_bytes(largest, first));
  return row;
}

const case_registration fragmentation{
    {.name = "fragmentation",
     .about = "range of the addresses handed out over the bytes asked for, at first and after "
              "rounds of allocating and freeing everything",
     .parameters = with_sizes({{&given::threads, "100000"}, {&given::rounds, "100"}}),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&asked_bytes, &range_bytes, &range_bytes_last, &range_bytes_largest,
                &range_over_bytes, &range_over_bytes_last, &range_over_bytes_largest},
     .run = measure_fragmentation}};

}  // namespace

}  // namespace warpheap::bench
