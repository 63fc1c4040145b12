// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Superblocks and their queues by themselves.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/kma/buckets.hpp"
#include "warpheap/managers/kma/inspection.hpp"
#include "warpheap/managers/kma/superblock_queue.hpp"
#include "warpheap/managers/kma/superblocks.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr kma_config config{};
constexpr std::uint32_t largest = kma_sizes<config>::classes - 1;

// What lanes announce keeps others from an exact look, and most of a crowd find nothing.
TEST(kma_superblocks, a_lane_that_finds_nothing_announces_nothing) {
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const kma_superblocks<config> all(cursor, 3, 1);
  all.format(0, 1);
  machine().launch({1, 1}, [&] {
    const std::uint64_t before = all.moves();
    EXPECT_FALSE(all.take(0, 1)) << "an empty superblock is not taken for one slot";
    EXPECT_EQ(all.moves(), before);
    EXPECT_TRUE(all.take(largest, 1));
    EXPECT_TRUE(all.take(largest, 1));
    EXPECT_NE(all.moves(), before) << "a superblock has moved";
    // The first look at the queue finds out that only the dummy is left.
    EXPECT_FALSE(all.take(largest, 1));
    const std::uint64_t after = all.moves();
    EXPECT_FALSE(all.take(largest, 1));
    EXPECT_FALSE(all.take(0, 1));
    EXPECT_EQ(all.moves(), after);
  });
}

TEST(kma_superblocks, a_queue_whose_tail_is_late_still_gives_its_nodes) {
  kma_queue::ends ends;
  std::array<std::uint64_t, 3> links;
  const kma_queue queue(&ends, links.data(), 0, 2);
  queue.format(0, 1);
  ends.tail = ends.head;  // as if the lanes that linked the others had not moved it yet
  machine().launch({1, 1}, [&] {
    EXPECT_EQ(queue.dequeue(), 0u);
    EXPECT_EQ(queue.last(), 1u) << "the tail is never behind the head";
    EXPECT_EQ(queue.dequeue(), 1u);
    EXPECT_EQ(queue.dequeue(), kma_queue::none);
  });
}

TEST(kma_superblocks, a_call_goes_on_to_the_next_queue) {
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const kma_empty_queues queues(cursor, 4, 2);
  queues.format(0, 1);
  machine().launch({1, 1}, [&] {
    EXPECT_NE(queues.dequeue(), queues.none);
    EXPECT_NE(queues.dequeue(), queues.none) << "the first queue has only its dummy now";
    EXPECT_EQ(queues.dequeue(), queues.none);
    EXPECT_FALSE(queues.any());
  });
}

TEST(kma_superblocks, there_are_plenty_while_half_of_the_queues_have_some) {
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const kma_empty_queues queues(cursor, 8, 4);
  queues.format(0, 1);
  machine().launch({1, 1}, [&] {
    for (int taken = 0; taken < 3; ++taken) EXPECT_NE(queues.dequeue(), queues.none);
    EXPECT_TRUE(queues.plenty());
    EXPECT_NE(queues.dequeue(), queues.none);
    EXPECT_FALSE(queues.plenty());
  });
}

// Lanes of two multiprocessors would take its slots at the same place.
TEST(kma_inspection, a_superblock_in_two_buckets_is_wrong) {
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const kma_superblocks<config> all(cursor, 3, 1);
  auto* const words = cursor.take<std::uint64_t>(0, 128);
  const kma_buckets<config> buckets(cursor, 2);
  all.format(0, 1);
  buckets.format(0, 1);
  machine().launch({1, 1}, [&] { EXPECT_TRUE(buckets.reserve(all, 0, 1, 0)); });
  inspection found;
  kma_inspector<config>(all, buckets, found).run(0, 1);
  EXPECT_EQ(found.violations[4], 0u);
  ASSERT_NE(words[0], kma_bucket::none);
  words[buckets.count() / 2] = words[0];
  kma_inspector<config>(all, buckets, found).run(0, 1);
  EXPECT_EQ(found.violations[4], 1u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
