// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <vector>

namespace warpheap::bench {

namespace {

// Sorting more blocks on the host takes longer than the measurement.
constexpr std::uint64_t most_sorted = std::uint64_t{1} << 22;

constexpr field<std::uint64_t> held_blocks{{.name = "held_blocks",
                                            .unit = "blocks",
                                            .about = "that occupied the heap throughout",
                                            .role = field_role::detail}};
constexpr field<std::uint64_t> held_bytes{{.name = "held_bytes",
                                           .unit = "bytes",
                                           .about = "asked for by those blocks",
                                           .role = field_role::detail}};

measurement measure_alloc(const case_run& c) {
  const auto heap = open_heap(c);
  const auto held = occupy(c, *heap);
  block_table blocks(c.on, batch_of(c.chosen, c.chosen[given::threads]));
  const bool fits_host = blocks.batch().count <= most_sorted;
  tally wrong;
  std::vector<double> malloc_ms;
  std::vector<double> free_ms;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    malloc_ms.push_back(allocate(*heap, blocks.batch(), blocks.addresses()));
    blocks.write();
    wrong.add(blocks.examine(c.manager.alignment));
    const bool sorted = fits_host && (run == 0 || run == c.chosen[given::iterations]);
    if (sorted) wrong.add_corrupted(blocks.count_overlaps());
    free_ms.push_back(free_blocks(*heap, blocks.batch().count, blocks.addresses()));
    if (!c.manager.frees) heap->reset();
  }
  measurement row;
  if (held != nullptr) {
    const block_report kept = held->blocks.examine(c.manager.alignment);
    wrong.add_corrupted(kept.corrupted);
    row.add(held_blocks, kept.served);
    row.add(held_bytes, kept.bytes);
  }
  wrong.put_into(row);
  row.add(fields::malloc_ms, summarize_warm(malloc_ms));
  add_free(row, c.manager, free_ms);
  return row;
}

const case_registration alloc{
    {.name = "alloc",
     .about = "every thread (or one lane of every warp) allocates once, then frees",
     .parameters = with_sizes({{&given::mode, "thread"},
                               {&given::threads, "1024"},
                               {&given::iterations, "10"},
                               {&given::free_percent, "100"}}),
     .needs = {&needs::bytes, &needs::frees_to_occupy},
     .fields = {&held_blocks, &held_bytes},
     .run = measure_alloc}};

const case_registration scaling{
    {.name = "scaling",
     .about = "as alloc, to be run over numbers of threads",
     .parameters = with_sizes({{&given::threads, "1024"}, {&given::iterations, "10"}}),
     .needs = {&needs::bytes},
     .run = measure_alloc}};

}  // namespace

}  // namespace warpheap::bench
