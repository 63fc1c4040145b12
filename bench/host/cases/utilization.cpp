// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

namespace warpheap::bench {

measurement measure_utilization(const case_run& c) {
  const auto heap = open_heap(c);
  const heap_fill filled = fill_heap(c, *heap, c.chosen.threads);
  filled.blocks.write();
  const block_report report = filled.blocks.examine(c.manager.alignment);
  tally wrong;
  wrong.add(report);
  measurement row;
  wrong.put_into(row);
  row.add("blocks", report.served);
  row.add("bytes", report.bytes);
  row.add("launches", filled.launches);
  row.add("fill_ms", filled.ms);
  row.add("utilization",
          static_cast<double>(report.bytes) / static_cast<double>(c.chosen.heap_bytes));
  return row;
}

}  // namespace warpheap::bench
