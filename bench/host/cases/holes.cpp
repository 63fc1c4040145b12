// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

namespace warpheap::bench {

namespace {

/// Whether a heap that is all free hands out one block of `bytes`; null if the manager does not
/// claim such blocks.
field gives_block(const case_run& c, test_heap& heap, std::uint64_t bytes) {
  if (c.manager.scope == manager_scope::page ||
      (c.manager.largest_block != 0 && bytes > c.manager.largest_block)) {
    return {};
  }
  request_batch one;
  one.threads = one.count = 1;
  one.size_min = one.size_max = bytes;
  one.seed = c.chosen.seed;
  const block_table block(c.on, one);
  heap.allocate(one, block.addresses());
  block.write();
  const block_report report = block.examine(c.manager.alignment);
  heap.release(1, {}, block.addresses());
  return report.served == 1 && report.corrupted == 0;
}

}  // namespace

measurement measure_holes(const case_run& c) {
  const auto heap = open_heap(c);
  const heap_fill filled = fill_heap(c, *heap, c.chosen.threads);
  const block_table& blocks = filled.blocks;
  const std::uint64_t count = blocks.batch().count;
  blocks.write();
  const block_report full = blocks.examine(c.manager.alignment);
  heap->release(count, {selection::kind::every_second, 0, 0}, blocks.addresses());
  const std::uint64_t freed = full.served - blocks.examine(c.manager.alignment, false).served;
  if (freed == 0) throw not_claimed("the heap is too small for two blocks");

  request_batch again = batch_of(c.chosen, freed);
  again.first = count;  // other contents than the first blocks
  const block_table refill(c.on, again);
  const double refill_ms = heap->allocate(again, refill.addresses());
  refill.write();
  const block_report refilled = refill.examine(c.manager.alignment);
  tally wrong;
  wrong.add(refilled);
  wrong.add_corrupted(full.misaligned + blocks.examine(c.manager.alignment).corrupted);

  heap->release(count, {}, blocks.addresses());
  heap->release(freed, {}, refill.addresses());
  measurement row;
  wrong.put_into(row);
  row.add("blocks", full.served);
  row.add("freed_blocks", freed);
  row.add("refilled_blocks", refilled.served);
  row.add("refilled_share", static_cast<double>(refilled.served) / static_cast<double>(freed));
  row.add("refill_ms", refill_ms);
  row.add("quarter_in_one_block", gives_block(c, *heap, c.chosen.heap_bytes / 4));
  row.add("half_in_one_block", gives_block(c, *heap, c.chosen.heap_bytes / 2));
  return row;
}

}  // namespace warpheap::bench
