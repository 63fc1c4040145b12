// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests of lanes that call together become one block. On the CPU model they are one group.
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(xmalloc_coalescing, a_warp_shares_one_block) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  auto pieces = take(heap, 16, 32);
  ASSERT_EQ(pieces.size(), 32u);
  for (std::ptrdiff_t i = 0; i < 32; ++i) {
    EXPECT_EQ(pieces[static_cast<std::size_t>(i)], pieces[0] + 32 * i);
  }
  EXPECT_EQ(heap.stats().blocks_in_use, 32u);
  EXPECT_EQ(heap.stats().bytes_in_use, 2048u);
  std::byte* const last = pieces.back();
  pieces.pop_back();
  give(heap, pieces);
  EXPECT_EQ(heap.stats().blocks_in_use, 1u);
  EXPECT_EQ(heap.stats().bytes_in_use, 2048u) << "the last piece keeps the parent";
  give(heap, {last});
  EXPECT_EQ(heap.stats().bytes_in_use, 0u);
  expect_whole(heap);
}

TEST(xmalloc_coalescing, ends_at_256_bytes) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  auto pieces = take(heap, 255, 2);
  EXPECT_EQ(heap.stats().bytes_in_use, 1024u) << "one block of the second class";
  give(heap, pieces);
  pieces = take(heap, 256, 2);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(heap.stats().bytes_in_use, 1024u) << "two of the first";
  EXPECT_NE(heap.ref().manager().parts().memory().unit_of(pieces[0]),
            heap.ref().manager().parts().memory().unit_of(pieces[1]));
  give(heap, pieces);
  expect_whole(heap);
}

TEST(xmalloc_coalescing, a_team_that_is_too_large_is_halved) {
  const heap<xmalloc<>> heap(machine(), 4_MiB);
  const auto pieces = take(heap, 255, 32);
  EXPECT_EQ(pieces.size(), 32u);
  EXPECT_EQ(heap.stats().blocks_in_use, 32u);
  EXPECT_EQ(heap.stats().bytes_in_use, 2 * 8192u);
  give(heap, pieces);
  expect_whole(heap);
}

TEST(xmalloc_coalescing, a_lane_alone_has_a_block_of_its_own) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  std::byte* const block = take_one(heap, 1);
  EXPECT_EQ(heap.stats().bytes_in_use, 512u);
  give(heap, {block});
  expect_whole(heap);
}

TEST(xmalloc_coalescing, lanes_ask_alone_when_there_is_no_room_for_all) {
  const heap<xmalloc<>> heap(machine(), 64_KiB);
  const auto all = take_all(heap, 1, 1);
  ASSERT_GT(all.size(), 4u);
  give(heap, {all[0], all[1], all[2]});
  const auto few = take(heap, 200, 8);
  EXPECT_FALSE(few.empty());
  give(heap, few);
  give(heap, {all.begin() + 3, all.end()});
  expect_whole(heap);
}

TEST(xmalloc_coalescing, a_piece_that_is_freed_twice_counts_once) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  const auto pieces = take(heap, 16, 2);
  ASSERT_EQ(pieces.size(), 2u);
  give(heap, {pieces[0]});
  give(heap, {pieces[0]});
  EXPECT_EQ(heap.stats().blocks_in_use, 1u);
  give(heap, {pieces[1]});
  expect_whole(heap);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
