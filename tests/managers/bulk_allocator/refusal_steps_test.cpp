// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "full_heap.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// As if two lanes with units were about to take a pair of buddies, which cannot be merged before.
TEST(bulk_allocator_refusals, try_sixteen_times) {
  full_heap<bulk_allocator<>> heap(1_MiB, 16, 4096);
  const std::uint64_t lone = expect_no_more_in_a_crowd(heap);
  bulk_parts::arenas<bulk_allocator_config{}> same;
  region_cursor cursor(heap.memory(), "the same");
  same.lay_out(cursor, heap.manager().pages(), 1);
  in_a_lane([&] {
    same.buddy().nodes(0).insert(8);
    same.give_node(0, 9);
    EXPECT_EQ(same.buddy().units(0).take_up_to(1), 1u);
  });
  const std::uint64_t spoilt = heap.steps_of(1);
  EXPECT_GE(spoilt, 16 * lone) << "nothing was spoilt";
  // Reclaiming looks at the lists of its arena and at the pairs of each order.
  EXPECT_LE(spoilt, 16 * 4 * lone);
  EXPECT_LE(heap.steps_of(crowd), crowd * spoilt);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
