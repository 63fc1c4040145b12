// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A case with a parameter and a field of its own, which nothing else in the tree knows of: this
/// file is all that a case takes.

#include "bench/host/support.hpp"

namespace warpheap::bench {

namespace {

constexpr parameter<std::uint64_t> pairs{{.name = "pairs",
                                          .unit = "pairs",
                                          .about = "launches of a malloc and a free",
                                          .role = field_role::axis},
                                         {.least = 1, .most = 1000}};
constexpr field<double> pairs_ms{
    {.name = "pairs_ms", .unit = "ms", .about = "all of them", .better = "less"}};

measurement measure_pairs(const case_run& c) {
  const auto heap = open_heap(c);
  block_table blocks(c.on, batch_of(c.chosen, c.chosen[given::threads]));
  double ms = 0;
  tally wrong;
  for (std::uint64_t pair = 0; pair < c.chosen[pairs]; ++pair) {
    ms += allocate(*heap, blocks.batch(), blocks.addresses());
    blocks.write();
    wrong.add(blocks.examine(c.manager.alignment));
    ms += free_blocks(*heap, blocks.batch().count, blocks.addresses());
  }
  measurement row;
  wrong.put_into(row);
  row.add(pairs_ms, ms);
  return row;
}

const case_registration registered{
    {.name = "pairs",
     .about = "malloc and free in turn",
     .parameters = with_sizes({{&pairs, "4"}, {&given::threads, "64"}}),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&pairs_ms},
     .run = measure_pairs}};

}  // namespace

}  // namespace warpheap::bench
