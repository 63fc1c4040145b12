// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

namespace warpheap::bench {

namespace {

constexpr field<std::uint64_t> freed_blocks{
    {.name = "freed_blocks", .unit = "blocks", .about = "every second one, freed"}};
constexpr field<double> refilled_share{{.name = "refilled_share",
                                        .unit = "share",
                                        .about = "of the freed blocks, handed out again",
                                        .better = "more"}};
constexpr field<bool> quarter_in_one_block{
    {.name = "quarter_in_one_block",
     .about = "whether the empty heap serves a quarter of itself in one block; null: not claimed"}};

measurement measure_holes(const case_run& c) {
  const auto heap = open_heap(c);
  const heap_fill filled = fill_heap(c, *heap, c.chosen[given::threads]);
  const block_table& blocks = filled.blocks;
  const std::uint64_t count = blocks.batch().count;
  blocks.write();
  const block_report full = blocks.examine(c.manager.alignment);
  free_blocks(*heap, count, blocks.addresses(), {selection::kind::every_second, 0, 0});
  const std::uint64_t freed = full.served - blocks.examine(c.manager.alignment, false).served;
  if (freed == 0) throw too_small_for(c, "two blocks");

  request_batch again = batch_of(c.chosen, freed);
  again.first = count;  // other contents than the first blocks
  const block_table refill(c.on, again);
  const double refill_ms = allocate(*heap, again, refill.addresses());
  refill.write();
  const block_report refilled = refill.examine(c.manager.alignment);
  tally wrong;
  wrong.add(refilled);
  wrong.add_corrupted(full.misaligned + blocks.examine(c.manager.alignment).corrupted);

  free_blocks(*heap, count, blocks.addresses());
  free_blocks(*heap, freed, refill.addresses());
  measurement row;
  wrong.put_into(row);
  row.add(fields::blocks, full.served);
  row.add(freed_blocks, freed);
  row.add(fields::refilled_blocks, refilled.served);
  row.add(refilled_share, static_cast<double>(refilled.served) / static_cast<double>(freed));
  row.add(fields::refill_ms, refill_ms);
  row.add(quarter_in_one_block, gives_block(c, *heap, c.chosen[given::heap_bytes] / 4));
  row.add(fields::half_in_one_block, gives_block(c, *heap, c.chosen[given::heap_bytes] / 2));
  return row;
}

const case_registration holes{
    {.name = "holes",
     .about = "a full heap, every second block freed, the same sizes again; then all freed and "
              "one large block",
     .parameters = with_sizes({{&given::threads, "100000"}}),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&fields::blocks, &freed_blocks, &fields::refilled_blocks, &refilled_share,
                &fields::refill_ms, &quarter_in_one_block, &fields::half_in_one_block},
     .run = measure_holes,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
