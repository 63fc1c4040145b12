// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The room that a block takes, and the largest block: what sizes are rounded to.

#include "bench/host/support.hpp"

namespace warpheap::bench {

namespace {

constexpr field<std::uint64_t> block_bytes{
    {.name = "block_bytes", .unit = "bytes", .about = "that a block takes, as the heap counts"}};
constexpr field<std::uint64_t> largest_block{
    {.name = "largest_block", .unit = "bytes", .about = "of the largest request that it serves"}};

measurement measure_block_bytes(const case_run& c) {
  const auto heap = open_heap(c);
  block_table blocks(c.on, batch_of(c.chosen, 1));
  allocate(*heap, blocks.batch(), blocks.addresses());
  blocks.write();
  tally wrong;
  wrong.add(blocks.examine(c.manager.alignment));
  const heap_state now = heap->state();
  measurement row;
  wrong.put_into(row);
  row.add(block_bytes, now.bytes_in_use);
  row.add(largest_block, now.largest_block);
  return row;
}

const case_registration registered{{.name = "block_bytes",
                                    .about = "bytes that one block takes, and the largest block",
                                    .parameters = with_sizes({}),
                                    .needs = {&needs::bytes},
                                    .fields = {&block_bytes, &largest_block},
                                    .run = measure_block_bytes}};

}  // namespace

}  // namespace warpheap::bench
