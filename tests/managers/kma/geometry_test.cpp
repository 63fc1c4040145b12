// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of sizes and words, and layouts at the edges.
#include "machine.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/kma/kma.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using sizes = kma<>::sizes;

kma<> laid_out(std::size_t bytes, std::uint32_t multiprocessors = 132) {
  auto* const nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
  return kma<>({nowhere, bytes}, machine_of(multiprocessors), {});
}

TEST(kma, classes_are_powers_of_two_from_16_bytes_to_a_superblock) {
  EXPECT_EQ(sizes::classes, 9u);
  for (std::uint32_t c = 0; c < sizes::classes; ++c) {
    EXPECT_EQ(sizes::block_bytes(c), 16u << c);
    EXPECT_EQ(sizes::slots(c) * sizes::block_bytes(c), 4096u);
    EXPECT_EQ(sizes::class_for(16u << c), c);
    if (c != 0) {
      EXPECT_EQ(sizes::class_for((8u << c) + 1), c);
    }
  }
  EXPECT_EQ(sizes::class_for(1), 0u);
  EXPECT_EQ(sizes::class_for(128), 3u) << "128 bytes take 128, not the release's 252";
}

TEST(kma, words_hold_what_they_are_made_of) {
  const kma_state state{0xfffffffe, kma_mode::partial, 12, 4096};
  const kma_state again = kma_state::of(state.word());
  EXPECT_EQ(again.epoch, state.epoch);
  EXPECT_EQ(again.mode, state.mode);
  EXPECT_EQ(again.of_class, state.of_class);
  EXPECT_EQ(again.free, state.free);
  EXPECT_EQ(state.after_reserving(4096).mode, kma_mode::full);
  EXPECT_EQ(state.after_reserving(4095).mode, kma_mode::partial);
  const kma_bucket bucket = kma_bucket::of(kma_bucket{(1u << 31) - 1, 7}.word());
  EXPECT_EQ(bucket.superblock, (1u << 31) - 1);
  EXPECT_EQ(bucket.epoch, 7u);
  const kma_grant grant = kma_grant::of(kma_grant{70000, 32, 4064}.word());
  EXPECT_EQ(grant.superblock, 70000u);
  EXPECT_EQ(grant.count, 32u);
  EXPECT_EQ(grant.hint, 4064u);
  EXPECT_FALSE(kma_grant::of(kma_grant{}.word()));
}

TEST(kma, metadata_takes_two_percent) {
  const kma<> small = laid_out(16_MiB);
  EXPECT_GE(small.superblocks(), 4096u * 98 / 100);
  EXPECT_LT(small.superblocks(), 4096u);
}

TEST(kma, multiprocessors_have_buckets_as_far_as_superblocks_go) {
  EXPECT_EQ(laid_out(64_KiB).shards(), 1u);
  EXPECT_EQ(laid_out(1_MiB).shards(), 3u);
  EXPECT_EQ(laid_out(64_MiB).shards(), 32u);
  EXPECT_EQ(laid_out(64_MiB, 4).shards(), 4u);
  EXPECT_EQ(laid_out(64_MiB, 0).shards(), 1u);
}

TEST(kma, heaps_beyond_32_bits_lay_themselves_out) {
  EXPECT_GT(laid_out(std::size_t{130} << 30).superblocks(), 33'000'000u);
}

TEST(kma, less_than_two_superblocks_are_too_small) {
  EXPECT_THROW(laid_out(8192), region_too_small);
  EXPECT_EQ(laid_out(20480).superblocks() >= 2, true);
}

TEST(kma, the_bounds_of_a_configuration_are_possible) {
  using largest = kma<kma_config{.superblock_bytes = 65536}>::sizes;
  EXPECT_EQ(largest::block_bytes(largest::classes - 1), 65536u);
  using one_class = kma<kma_config{.superblock_bytes = 64, .least_block = 64}>::sizes;
  EXPECT_EQ(one_class::classes, 1u);
}

TEST(kma, format_writes_no_word_behind_the_sets) {
  rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const kma_superblocks<kma_config{}> all(cursor, 70, 1);
  all.format(0, 1);
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

// The links of 16 nodes end where their memory does.
TEST(kma, format_writes_no_link_behind_the_last) {
  rubbish memory(4096);
  region_cursor cursor = memory.cursor();
  const kma_empty_queues queues(cursor, 16, 1);
  queues.format(0, 1);
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

// What lies behind the buckets may look like one of them.
TEST(kma, buckets_are_counted_up_to_the_last) {
  const rubbish memory(4096);
  region_cursor cursor = memory.cursor();
  const kma_buckets<kma_config{}> buckets(cursor, 2);
  buckets.format(0, 1);
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.all().base);
  const std::uint64_t wanted = kma_bucket{1, 1}.word();
  words[1] = words[17] = words[33] = wanted;
  EXPECT_EQ(buckets.count_of(1, wanted), 2u);
}

// The superblock there would be one too many. Behind the words of the last one are the sets, in
// which all superblocks are: none has more than one slot left.
TEST(kma, a_pointer_just_behind_the_blocks_is_foreign) {
  const rubbish memory(128_KiB);
  const kma<> heap(memory.all(), machine_of(1), {});
  heap.format(0, 1);
  std::vector<std::byte*> blocks;
  machine().launch({1, 1}, [&] {
    while (void* const block = heap.malloc(16)) blocks.push_back(static_cast<std::byte*>(block));
  });
  std::sort(blocks.begin(), blocks.end());
  ASSERT_EQ(blocks.size() % 256, 0u);
  machine().launch({1, 1}, [&] {
    for (std::size_t i = 0; i < blocks.size(); i += 256) heap.free(blocks[i]);
  });
  const auto before = memory.contents();
  // The queue keeps a superblock, which may be the last one.
  machine().launch({1, 1}, [&] {
    heap.free(blocks.back() + 16);
    heap.free(blocks.back() + 16 + 4096);
  });
  EXPECT_TRUE(memory.contents() == before);
}

TEST(kma_inspection, a_bucket_that_stays_poisoned_is_found) {
  constexpr kma_config config{};
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const kma_superblocks<config> all(cursor, 2, 1);
  auto* const words = memory.all().base + memory.all().bytes - cursor.left(128);
  const kma_buckets<config> buckets(cursor, 1);
  all.format(0, 1);
  buckets.format(0, 1);
  inspection found;
  kma_inspector<config>(all, buckets, found).run(0, 1);
  ASSERT_EQ(found.violations[4], 0u);
  reinterpret_cast<std::uint64_t*>(words)[3] = kma_bucket::poison;
  kma_inspector<config>(all, buckets, found).run(0, 1);
  EXPECT_EQ(found.violations[4], 1u);
  EXPECT_EQ(found.places[4], 3u);
}

// One lane walks the queue of as many superblocks as these, and no more.
TEST(kma_inspection, the_queue_of_65536_superblocks_is_counted) {
  constexpr std::uint32_t count = 65536;
  constexpr kma_config config{};
  rubbish memory(16_MiB);
  region_cursor cursor = memory.cursor();
  const kma_superblocks<config> all(cursor, count, 1);
  const kma_buckets<config> buckets(cursor, 1);
  const auto broken = [&] {
    inspection found;
    kma_inspector<config>(all, buckets, found).run(0, 1);
    return found.violations[1];
  };
  all.format(0, 1);
  buckets.format(0, 1);
  EXPECT_EQ(broken(), 0u);
  std::uint32_t lost = all.empty_ones().none;
  machine().launch({1, 1}, [&] { lost = all.empty_ones().dequeue(); });
  ASSERT_NE(lost, all.empty_ones().none);
  EXPECT_NE(broken(), 0u) << "an empty superblock is not in the queue";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
