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
TEST(bulk_allocator_refusals, try_four_times) {
  full_heap<bulk_allocator<>> heap(1_MiB, 16, 4096);
  const std::uint64_t lone = expect_no_more_in_a_crowd(heap);
  bulk_parts::arenas<bulk_allocator_config{}> same;
  region_cursor cursor(heap.memory(), "the same");
  same.lay_out(cursor, heap.manager().pages(), 1);
  in_a_lane([&] {
    same.buddy().nodes(0).insert(8);
    same.give_nodes(simt::coalesced(nullptr), 0, 9);
    EXPECT_EQ(same.buddy().units(0).take_up_to(1), 1u);
  });
  const std::uint64_t spoilt = heap.steps_of(1);
  EXPECT_GE(spoilt, 4 * lone) << "nothing was spoilt";
  // Reclaiming looks at the pairs of each order, and at none of the slabs.
  EXPECT_LE(spoilt, 4 * 4 * lone);
  EXPECT_LE(heap.steps_of(crowd), crowd * spoilt);
}

// Each lane of the warp meets the others a few times. Were each to look at all orders by itself, a
// warp would make as many steps as 32 lone lanes.
TEST(bulk_allocator_refusals, a_warp_looks_at_the_orders_once) {
  full_heap<bulk_allocator<>> heap(64_MiB, 4096, 8192);
  const std::uint64_t lone = heap.steps_of(1);
  EXPECT_GE(lone, 2 * 12u) << "one look at each of the orders, down and up";
  const std::uint64_t warp =
      steps({1, 32}, [&] { EXPECT_EQ(heap.manager().malloc(8192), nullptr); });
  EXPECT_LE(warp, lone + 32 * 20);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
