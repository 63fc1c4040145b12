// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include <vector>

namespace warpheap::bench {

/// Fills the heap, then lets a launch ask for what is not there: all of its threads must get their
/// null. Afterwards everything is freed and the heap filled again.
measurement measure_exhaustion(const case_run& c) {
  const auto heap = open_heap(c);
  const std::uint64_t threads = c.chosen.threads;
  tally wrong;
  heap_fill filled = fill_heap(c, *heap, threads);
  filled.blocks.write();
  std::vector<double> null_ms;
  std::uint64_t surplus_served = 0;
  for (std::uint64_t run = 0; run <= c.chosen.iterations; ++run) {
    request_batch surplus = batch_of(c.chosen, threads);
    surplus.first = filled.blocks.batch().count;
    const block_table extra(c.on, surplus);
    null_ms.push_back(heap->allocate(surplus, extra.addresses()));
    extra.write();
    const block_report got = extra.examine(c.manager.alignment);
    wrong.add(got);
    surplus_served += got.served;
    if (got.served != 0) heap->release(threads, {}, extra.addresses());
  }
  const block_report before = filled.blocks.examine(c.manager.alignment);
  wrong.add(before);
  measurement row;
  row.add("blocks", before.served);
  row.add("fill_ms", filled.ms);
  row.add("null_ms", summarize_warm(null_ms));
  row.add("surplus_served", surplus_served);
  if (c.manager.frees) {
    heap->release(filled.blocks.batch().count, {}, filled.blocks.addresses());
  } else {
    heap->reset();
  }
  const heap_fill second = fill_heap(c, *heap, threads);
  second.blocks.write();
  const block_report after = second.blocks.examine(c.manager.alignment);
  wrong.add_corrupted(after.corrupted + after.misaligned);
  row.add("refilled_blocks", after.served);
  row.add("refill_ms", second.ms);
  row.add("recovered_share", before.served == 0 ? field()
                                                : field(static_cast<double>(after.served) /
                                                        static_cast<double>(before.served)));
  wrong.put_into(row);
  return row;
}

}  // namespace warpheap::bench
