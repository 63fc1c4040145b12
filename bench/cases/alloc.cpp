// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <optional>

namespace warpheap::bench {

namespace {

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
  const block_table blocks(c.on, batch_of(c.chosen, c.chosen[given::threads]));
  tally wrong;
  const batch_times took = serve_and_free(c, *heap, blocks, wrong);
  measurement row;
  if (held != nullptr) {
    const block_report kept = held->blocks.examine(c.manager.alignment);
    wrong.add_corrupted(kept.corrupted);
    row.add(held_blocks, kept.served);
    row.add(held_bytes, kept.bytes);
  }
  wrong.put_into(row);
  row.add(fields::malloc_ms, summarize_warm(took.malloc_ms));
  add_free(row, c.manager, took.free_ms);
  std::optional<summary> of_nulls;
  if (c.manager.frees) of_nulls = summarize_warm(free_nulls(c, *heap, blocks.batch().count));
  row.add(fields::null_free_ms, of_nulls);
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
     .fields = {&held_blocks, &held_bytes, &fields::null_free_ms},
     .run = measure_alloc}};

const case_registration scaling{
    {.name = "scaling",
     .about = "as alloc, to be run over numbers of threads",
     .parameters = with_sizes({{&given::threads, "1024"}, {&given::iterations, "10"}}),
     .needs = {&needs::bytes},
     .fields = {&fields::null_free_ms},
     .run = measure_alloc}};

}  // namespace

}  // namespace warpheap::bench
