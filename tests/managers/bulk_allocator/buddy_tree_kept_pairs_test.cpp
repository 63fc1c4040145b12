// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buddies that could not be merged, because another lane had a unit of them: the lane that makes
// the second one available says so, and a request that needs both has them merged.
#include "any_schedule.hpp"
#include "full_of_blocks.hpp"

#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// A lane has given back a chunk, and with it a node of pages.
TEST(bulk_allocator_kept_pairs, a_pair_of_chunks_is_merged_later) {
  const full_of_blocks heap(32);
  machine().launch({1, 1}, [&] {
    // Enough that each bin that is wholly free from here on goes back, and then each chunk.
    heap.free_of_bin(1, 2);
    heap.free_of_bin(2, 2);
    for (const std::uint32_t bin : {5u, 6u, 9u, 10u}) heap.free_of_bin(bin, 4);
    for (const std::uint32_t bin : {17u, 18u, 19u}) heap.free_of_bin(bin, 4);
    ASSERT_EQ(heap.units(2).take_up_to(1), 1u);
    for (const std::uint32_t bin : {21u, 22u, 23u}) heap.free_of_bin(bin, 4);
    heap.units(2).signal(1);
    EXPECT_NE(heap->malloc(1024), nullptr);
  });
}

// Two lanes free a page each. The first one's buddy is in use. The second one merges its own with
// its buddy, and cannot merge that pair with the next one. A third lane, which reclaims, cannot
// either, and says so again.
TEST(bulk_allocator_kept_pairs, a_pair_of_pairs_that_a_member_leaves_is_merged_later) {
  const full_of_blocks heap(100);
  machine().launch({1, 1}, [&] {
    for (const std::uint32_t page : {8u, 10u, 11u}) heap->free(heap.page(page));
    ASSERT_EQ(heap.units(1).take_up_to(1), 1u);
  });
  const std::vector<std::byte> before = heap.memory().contents();
  simt::explorer warps({2, 2}, 100'000);
  const auto begin = [&] { std::copy(before.begin(), before.end(), heap.memory().all().base); };
  const auto lane = [&] {
    if (simt::block_rank() == 0) return heap->free(heap.page(simt::lane_id() == 0 ? 4 : 9));
    if (simt::lane_id() != 0) return;
    for (int tries = 0; tries < 10; ++tries) EXPECT_EQ(heap->malloc(400), nullptr);
  };
  const auto wrong = [&] {
    void* got = nullptr;
    machine().launch({1, 1}, [&] {
      heap.units(1).signal(1);
      got = heap->malloc(400);
    });
    return got == nullptr;
  };
  expect_in_schedules(warps, WARPHEAP_TEST_SANITIZED ? 500 : 4000, begin, lane, wrong);
}

// A pair of pairs is kept. Two lanes want more than it has, and the second one merges it, as each
// looks at other orders. A third lane, which wants the pair, waits for them or merges it by itself.
TEST(bulk_allocator_kept_pairs, a_pair_that_a_member_merges_is_there_for_lanes_that_wait) {
  const full_of_blocks heap(100);
  machine().launch({1, 1}, [&] {
    for (const std::uint32_t page : {8u, 10u, 11u}) heap->free(heap.page(page));
    ASSERT_EQ(heap.units(1).take_up_to(1), 1u);
    heap->free(heap.page(9));
    heap.units(1).signal(1);
  });
  const std::vector<std::byte> before = heap.memory().contents();
  void* got = nullptr;
  simt::explorer warps({2, 2}, 100'000);
  const auto begin = [&] {
    std::copy(before.begin(), before.end(), heap.memory().all().base);
    got = nullptr;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      EXPECT_EQ(heap->malloc(800), nullptr);
    } else if (simt::lane_id() == 0) {
      got = heap->malloc(400);
    }
  };
  expect_in_schedules(warps, WARPHEAP_TEST_SANITIZED ? 500 : 4000, begin, lane,
                      [&] { return got == nullptr; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
