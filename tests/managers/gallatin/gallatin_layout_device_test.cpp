// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where blocks come from, and when their memory is used again. On either model.
#include "lanes.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// One lane takes `count` blocks of `bytes`, one after the other.
struct take_in_turn {
  handle<gallatin<>> heap;
  std::size_t bytes;
  std::byte** blocks;
  std::uint64_t count;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = 0; i < count; ++i) {
      blocks[i] = static_cast<std::byte*>(heap.malloc(bytes));
    }
  }
};

/// One lane frees them, in their order.
struct free_in_turn {
  handle<gallatin<>> heap;
  std::byte* const* blocks;
  std::uint64_t count;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = 0; i < count; ++i) heap.free(blocks[i]);
  }
};

namespace {

block_list take_by_one_lane(const gallatin_heap& from, std::size_t bytes, std::uint64_t count) {
  const device_array<std::byte*> blocks(count);
  machine().launch({1, 1}, take_in_turn{from.ref(), bytes, blocks.get(), count});
  return blocks.read();
}

void give_by_one_lane(const gallatin_heap& to, const block_list& blocks) {
  const device_array<std::byte*> there(blocks);
  machine().launch({1, 1}, free_in_turn{to.ref(), there.get(), blocks.size()});
}

TEST(gallatin_layout, slices_of_a_block_are_handed_out_in_order) {
  const gallatin_heap heap(machine(), 64_MiB);
  const std::uint64_t slices = heap.ref().manager().shape().slices();
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{256}, std::size_t{4096}}) {
    const auto blocks = take_by_one_lane(heap, bytes, slices);
    for (std::uint64_t i = 0; i < slices; ++i) {
      ASSERT_EQ(blocks[i], blocks[0] + i * bytes) << i;
    }
    const auto offset = static_cast<std::uint64_t>(blocks[0] - heap.ref().manager().segments());
    EXPECT_EQ(offset % (slices * bytes), 0u) << "the first is the first of a block";
    give(heap, blocks);
  }
  expect_whole(heap);
}

TEST(gallatin_layout, a_block_is_used_again_when_all_of_its_slices_are_back) {
  const gallatin_heap heap(machine(), 64_MiB);
  const std::uint64_t slices = heap.ref().manager().shape().slices();
  auto blocks = take_by_one_lane(heap, 16, slices);
  std::byte* last = blocks.back();
  blocks.pop_back();
  give_by_one_lane(heap, blocks);
  // All but one are free, and none of them is handed out: three blocks of others are.
  auto others = take_by_one_lane(heap, 16, 3 * slices);
  for (const std::byte* other : others) {
    EXPECT_FALSE(other >= blocks.front() && other <= last);
  }
  EXPECT_EQ(heap.stats().blocks_in_use, 3 * slices + 1);
  give_by_one_lane(heap, {last});
  const auto again = take_by_one_lane(heap, 16, 2 * slices);
  EXPECT_NE(std::find(again.begin(), again.end(), blocks.front()), again.end())
      << "the first free block is taken first";
  give(heap, others);
  give(heap, again);
  expect_whole(heap);
}

TEST(gallatin_layout, several_slices_lie_together_and_are_freed_at_once) {
  const gallatin_heap heap(machine(), 64_MiB);
  for (std::size_t slices = 2; slices <= 8; ++slices) {
    const std::size_t bytes = slices * 4096 - 100;
    const auto blocks = take(heap, bytes, 300);
    ASSERT_EQ(blocks.size(), 300u);
    expect_apart(blocks, bytes);
    for (const std::byte* block : blocks) {
      EXPECT_EQ((block - heap.ref().manager().segments()) % 4096, 0);
    }
    const heap_stats used = heap.stats();
    EXPECT_EQ(used.blocks_in_use, 300u);
    EXPECT_EQ(used.bytes_in_use, 300 * slices * 4096);
    give(heap, blocks);
    expect_whole(heap);
  }
}

TEST(gallatin_layout, larger_blocks_are_whole_blocks_and_runs_from_the_back) {
  const gallatin_heap heap(machine(), 64_MiB);
  const std::size_t segment = heap.ref().manager().shape().segment_bytes();
  std::byte* const begin = heap.ref().manager().segments();
  std::byte* const end = begin + all_segments(heap);

  const auto halves = take(heap, segment / 2, 5);
  ASSERT_EQ(halves.size(), 5u);
  EXPECT_LT(halves.back(), begin + 5 * segment) << "from the front";
  expect_apart(halves, segment / 2);

  std::byte* const first_run = take_one(heap, segment + 1);
  EXPECT_EQ(first_run, end - 2 * segment);
  std::byte* const second_run = take_one(heap, 3 * segment);
  EXPECT_EQ(second_run, first_run - 3 * segment);
  EXPECT_EQ(heap.stats().blocks_in_use, 7u);
  EXPECT_EQ(heap.stats().bytes_in_use, 5 * segment / 2 + 5 * segment);
  expect_valid(heap);

  give(heap, {first_run});
  EXPECT_EQ(take_one(heap, 2 * segment), first_run);
  give(heap, halves);
  give(heap, {first_run, second_run});
  expect_whole(heap);
}

// A search for a run that starts only at words of the tree, or never in the first one, fails here.
TEST(gallatin_layout, runs_of_every_length_are_found_in_heaps_of_up_to_64_segments) {
  const gallatin_heap heap(machine(), 24_MiB);
  const auto shape = heap.ref().manager().shape();
  ASSERT_LE(shape.segments(), 64u);
  for (std::uint32_t length = 2; length <= shape.segments(); ++length) {
    const std::size_t bytes = std::size_t{length} << shape.segment_shift();
    const auto runs = take_all(heap, bytes, 1);
    EXPECT_EQ(runs.size(), shape.segments() / length) << length;
    expect_apart(runs, bytes);
    expect_valid(heap);
    give(heap, runs);
  }
  expect_whole(heap);
}

// Runs across words of the tree; a free that is not visible from the root loses them.
TEST(gallatin_layout, freed_runs_serve_every_size) {
  const gallatin_heap heap(machine(), 2_GiB);  // two words of the tree of free segments
  const auto shape = heap.ref().manager().shape();
  ASSERT_GT(shape.segments(), 64u);
  const std::size_t third = all_segments(heap) / 3 / 16_MiB * 16_MiB;
  const auto runs = take(heap, third, 3);
  EXPECT_EQ(runs.size(), 3u);
  give(heap, runs);
  const auto segments = take_all(heap, 16_MiB, 256);
  EXPECT_EQ(segments.size(), shape.segments());
  expect_apart(segments, 16_MiB);
  give(heap, segments);
  expect_whole(heap);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
