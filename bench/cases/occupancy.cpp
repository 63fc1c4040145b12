// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <algorithm>
#include <string>

namespace warpheap::bench {

namespace {

constexpr std::uint64_t most_asked = std::uint64_t{1} << 20;

constexpr field<std::uint64_t> occupied_blocks{{.name = "occupied_blocks",
                                                .unit = "blocks",
                                                .about = "that stay in the heap throughout",
                                                .role = field_role::detail}};
constexpr field<std::uint64_t> asked_blocks{
    {.name = "asked_blocks",
     .unit = "blocks",
     .about = "asked for in a launch: half of the free ones",
     .role = field_role::detail}};

/// A heap that is filled and then thinned at random: half of what is free is asked for and freed
/// again, a million blocks at most. In the end all is freed, and half of the heap is asked for in
/// one block.
measurement measure_occupancy(const case_run& c) {
  const auto heap = open_heap(c);
  const auto held = occupy(c, *heap);
  if (held == nullptr) {
    throw not_claimed("free_percent is 100, so nothing of the heap is occupied: use alloc");
  }
  const block_report kept = held->blocks.examine(c.manager.alignment);
  // What the filling could not have is not free, so that this is exact for blocks of one size.
  const std::uint64_t all = held->blocks.batch().count - held->nulls;
  const std::uint64_t asked = std::min((all - std::min(all, kept.served)) / 2, most_asked);
  if (asked == 0) {
    throw not_claimed("a heap of " + std::to_string(c.chosen[given::heap_bytes]) +
                      " bytes has no two free blocks of " + sizes_in_words(c) +
                      " beside those that stay: give it more bytes or a larger free_percent");
  }
  request_batch batch = batch_of(c.chosen, asked);
  batch.first = held->blocks.batch().count;  // other contents than the blocks that stay
  const block_table blocks(c.on, batch);
  tally wrong;
  const batch_times took = serve_and_free(c, *heap, blocks, wrong);
  wrong.add_corrupted(held->blocks.examine(c.manager.alignment).corrupted);
  free_blocks(*heap, held->blocks.batch().count, held->blocks.addresses());
  measurement row;
  wrong.put_into(row);
  row.add(fields::malloc_ms, summarize_warm(took.malloc_ms));
  row.add(fields::free_ms, summarize_warm(took.free_ms));
  row.add(occupied_blocks, kept.served);
  row.add(asked_blocks, asked);
  row.add(fields::longest_ms, longest_of({took.malloc_ms, took.free_ms}));
  row.add(fields::half_in_one_block, gives_block(c, *heap, c.chosen[given::heap_bytes] / 2));
  return row;
}

const case_registration occupancy{
    {.name = "occupancy",
     .about =
         "a full heap is thinned at random; half of what is free is asked for, then freed; then "
         "all freed and one large block",
     .parameters = with_sizes({{&given::free_percent, "50"}, {&given::iterations, "10"}}, "64"),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&occupied_blocks, &asked_blocks, &fields::longest_ms, &fields::half_in_one_block},
     .run = measure_occupancy}};

}  // namespace

}  // namespace warpheap::bench
