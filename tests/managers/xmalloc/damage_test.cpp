// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant, and words that it could miss.
#include "damage.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/failure.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(xmalloc_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(12 * 1024, {48, 112, 200, 16},
                               {{1, {62, 20451}},
                                {2, {17, 667}},
                                {3, {16, 555}},
                                {4, {47, 1573}},
                                {5, {48, 1988}},
                                {6, {12, 279}},
                                {7, {23, 1101}},
                                {8, {139, 13736}},
                                {9, {4, 126}},
                                {10, {8, 232}}});
}

TEST(xmalloc_damage, is_seen_in_every_zone) {
  expect_damage_is_seen<zoned>(zoned_bytes + sizeof(failure_counts),
                               {48, 112, 200, 16, 40 * 64 - 16},
                               {{1, {56, 20756}},
                                {2, {7, 222}},
                                {3, {12, 419}},
                                {4, {38, 1194}},
                                {5, {45, 1824}},
                                {6, {11, 252}},
                                {7, {30, 1427}},
                                {8, {406, 41170}},
                                {9, {6, 150}},
                                {10, {15, 625}}});
}

bool breaks(const heap<small>& of, int invariant) {
  const auto all = of.validate().violations;
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& one) { return one.invariant == invariant; });
}

// Where the first Superblock is, a block's unit is as far from the front as from its Superblock.
TEST(xmalloc_inspection, a_block_of_the_first_superblock_may_be_in_a_fifo) {
  const rubbish memory(32 * 1024);
  const auto units_of = [&](std::size_t bytes) {
    return small({memory.all().base, bytes}, {}, {}).parts().memory().units();
  };
  std::size_t bytes = 8 * 1024;
  while (units_of(bytes) % 4 != 3) bytes += 64;
  const heap<small> full(machine(), region{memory.all().base, bytes + sizeof(failure_counts)});
  ASSERT_NE(take_one(full, 130), nullptr);  // the three units that no Superblock fits into
  block_list all = take_all(full, 48, 1);
  std::sort(all.begin(), all.end());
  ASSERT_EQ(full.ref().manager().parts().memory().unit_of(all[0]), 0u);
  give(full, {all[1]});
  expect_valid(full);
}

// Behind the last block there is room for another one's header, and nothing else.
TEST(xmalloc_inspection, a_fifo_that_names_a_block_behind_the_last_of_a_superblock_is_found) {
  const heap<small> heap(machine(), 8 * 1024);
  const auto parts = heap.ref().manager().parts();
  std::byte* const block = take_one(heap, 48);
  ASSERT_NE(block, nullptr);
  EXPECT_FALSE(breaks(heap, 2));
  const std::uint32_t behind = parts.memory().unit_of(block) - parts.blocks().distance(block) + 3;
  std::byte* const none = parts.blocks().block_in(behind);
  reinterpret_cast<std::uint32_t*>(none)[-2] = 3;
  xmalloc_parts::word_before(none) = xmalloc_parts::block_word::basic(0).bits();
  machine().launch({1, 1}, [&] {
    const simt::group alone = simt::coalesced(nullptr);
    EXPECT_TRUE(parts.buffered().list(0, 0).push(alone, behind) ||
                parts.buffered().list(0, 1).push(alone, behind));
  });
  EXPECT_TRUE(breaks(heap, 2));
}

TEST(xmalloc_inspection, a_fifo_that_names_the_end_of_the_heap_is_found) {
  const heap<xmalloc<>> heap(machine(), 4_MiB);
  const auto parts = heap.ref().manager().parts();
  const auto broken = [&](int invariant) {
    const auto all = heap.validate().violations;
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& one) { return one.invariant == invariant; });
  };
  EXPECT_FALSE(broken(1));
  machine().launch({1, 1}, [&] { parts.buffered().push_second(0, parts.memory().units()); });
  EXPECT_TRUE(broken(1));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
