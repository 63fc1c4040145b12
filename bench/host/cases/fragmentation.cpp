// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include <algorithm>

namespace warpheap::bench {

measurement measure_fragmentation(const case_run& c) {
  const auto heap = open_heap(c);
  block_table blocks(c.on, batch_of(c.chosen, c.chosen.threads));
  tally wrong;
  block_report first;
  block_report last;
  std::uint64_t largest = 0;
  for (std::uint64_t round = 0; round < c.chosen.rounds; ++round) {
    heap->allocate(blocks.batch(), blocks.addresses());
    blocks.write();
    last = blocks.examine(c.manager.alignment);
    wrong.add(last);
    if (round == 0) first = last;
    largest = std::max(largest, last.range());
    heap->release(blocks.batch().count, {}, blocks.addresses());
  }
  const auto over_bytes = [](std::uint64_t range, const block_report& of) {
    return of.bytes == 0 ? field()
                         : field(static_cast<double>(range) / static_cast<double>(of.bytes));
  };
  measurement row;
  wrong.put_into(row);
  row.add("rounds", c.chosen.rounds);
  row.add("asked_bytes", first.bytes);
  row.add("range_bytes", first.range());
  row.add("range_bytes_last", last.range());
  row.add("range_bytes_largest", largest);
  row.add("range_over_bytes", over_bytes(first.range(), first));
  row.add("range_over_bytes_last", over_bytes(last.range(), last));
  row.add("range_over_bytes_largest", over_bytes(largest, first));
  return row;
}

}  // namespace warpheap::bench
