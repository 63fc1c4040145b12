// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include <vector>

namespace warpheap::bench {

namespace {

// Sorting more blocks on the host takes longer than the measurement.
constexpr std::uint64_t most_sorted = std::uint64_t{1} << 22;

}  // namespace

measurement measure_alloc(const case_run& c) {
  const auto heap = open_heap(c);
  const auto held = occupy(c, *heap);
  block_table blocks(c.on, batch_of(c.chosen, c.chosen.threads));
  const bool fits_host = blocks.batch().count <= most_sorted;
  tally wrong;
  std::vector<double> malloc_ms;
  std::vector<double> free_ms;
  for (std::uint64_t run = 0; run <= c.chosen.iterations; ++run) {
    malloc_ms.push_back(heap->allocate(blocks.batch(), blocks.addresses()));
    blocks.write();
    wrong.add(blocks.examine(c.manager.alignment));
    const bool sorted = fits_host && (run == 0 || run == c.chosen.iterations);
    if (sorted) wrong.add_corrupted(blocks.count_overlaps());
    free_ms.push_back(heap->release(blocks.batch().count, {}, blocks.addresses()));
    if (!c.manager.frees) heap->reset();
  }
  measurement row;
  if (held != nullptr) {
    const block_report kept = held->blocks.examine(c.manager.alignment);
    wrong.add_corrupted(kept.corrupted);
    row.add("held_blocks", kept.served);
    row.add("held_bytes", kept.bytes);
  }
  wrong.put_into(row);
  row.malloc_ms = summarize_warm(malloc_ms);
  row.free_ms = summarize_warm(free_ms);
  return row;
}

}  // namespace warpheap::bench
