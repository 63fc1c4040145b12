// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When memory is available again.
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <algorithm>
#include <array>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// What is before such a pointer belongs to the last block, and may look like a block's word.
TEST(xmalloc_reuse, a_pointer_to_the_end_of_the_heap_is_not_of_it) {
  const heap<xmalloc<>> heap(machine(), 64_KiB);
  const auto memory = heap.ref().manager().parts().memory();
  std::byte* const everything = take_one(heap, heap.largest_block());
  ASSERT_NE(everything, nullptr);
  std::byte* const end = memory.base() + std::size_t{memory.units()} * 64;
  xmalloc_parts::word_before(end) = xmalloc_parts::block_word::memory().bits();
  give(heap, {end});
  EXPECT_EQ(heap.stats().blocks_in_use, 1u);
  give(heap, {everything});
  expect_whole(heap);
}

// Callers have blocks of all Superblocks, so nothing would be gained by moving those in lists: if
// each request that fails does it, requests that could be served wait for them.
TEST(xmalloc_reuse, a_request_that_fails_leaves_the_blocks_of_others_in_their_lists) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  const auto all = take_all(heap, 504, 1);
  ASSERT_GT(all.size(), 200u);
  block_list few;
  for (std::size_t i = 0; i < all.size(); i += 50) few.push_back(all[i]);
  give(heap, few);
  const auto buffered = [&] {
    std::int64_t blocks = 0;
    const auto lists = heap.ref().manager().parts().buffered();
    for (std::uint32_t i = 0; i < 4; ++i) {
      machine().launch({1, 1}, [&] { blocks += lists.count(lists.list(0, i)); });
    }
    return blocks;
  };
  const std::int64_t before = buffered();
  EXPECT_GT(before, 0);
  EXPECT_EQ(take_one(heap, 4088), nullptr);
  EXPECT_EQ(buffered(), before);
  EXPECT_EQ(take(heap, 504, 1).size(), 1u);
}

// If a trim returned memory for one request, each request would need one of its own.
TEST(xmalloc_reuse, a_trim_returns_an_eighth_of_the_heap) {
  const heap<xmalloc<>> heap(machine(), 4_MiB);
  const auto all = take_all(heap, 1016, 1);
  for (std::size_t i = 0; i < all.size(); i += 512) {
    give(heap, {all.begin() + static_cast<std::ptrdiff_t>(i),
                all.begin() + static_cast<std::ptrdiff_t>(std::min(i + 512, all.size()))});
  }
  const auto superblocks = [&] { return heap.ref().manager().parts().blocks().unused(); };
  const std::int64_t before = superblocks();
  EXPECT_GT(before, 100);
  std::byte* const one = take_one(heap, 504);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(superblocks(), before - 16) << "of a unit more than 32 KiB";
  give(heap, {one});
  expect_whole(heap);
}

// Others wait for it. An eighth of this heap is more than that.
TEST(xmalloc_reuse, a_trim_looks_at_1024_superblocks) {
  const heap<small> heap(machine(), 4_MiB);
  const block_list all = take_all(heap, 48, 512);
  give(heap, all);
  const auto superblocks = [&] { return heap.ref().manager().parts().blocks().unused(); };
  const std::int64_t before = superblocks();
  ASSERT_GT(before, 8 * 1024);
  EXPECT_NE(take_one(heap, 200), nullptr);
  EXPECT_EQ(superblocks(), before - 1024);
  expect_valid(heap);
}

// They are cut off in one step: lanes that come one after the other cut from the end.
TEST(xmalloc_reuse, lanes_that_call_together_have_memoryblocks_in_a_row) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  constexpr std::size_t bytes = 20'000;
  const device_array<std::byte*> taken(32);
  heap.on().launch(covering(32), take_one_each<xmalloc<>>{heap.ref(), bytes, 32, taken.get()});
  block_list blocks = taken.read();
  constexpr std::size_t whole = (bytes + 16 + 63) / 64 * 64;
  for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_EQ(blocks[i] - blocks[i - 1], whole);
  expect_valid(heap);
  std::swap(blocks[3], blocks[20]);  // rows of several lengths
  blocks.erase(blocks.begin() + 9);
  give(heap, blocks);
  expect_valid(heap);
  EXPECT_EQ(heap.stats().blocks_in_use, 1u);
}

TEST(xmalloc_reuse, lanes_that_want_the_whole_heap_together_have_it_in_a_row) {
  const heap<small> heap(machine(), 12 * 1024 + 384);
  const std::uint32_t units = heap.ref().manager().parts().memory().units();
  ASSERT_EQ(units % 4, 0u);
  const std::size_t whole = units / 4 * 64;
  const device_array<std::byte*> taken(4);
  heap.on().launch(covering(4), take_one_each<small>{heap.ref(), whole - 16, 4, taken.get()});
  const block_list blocks = taken.read();
  for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_EQ(blocks[i] - blocks[i - 1], whole);
  expect_valid(heap);
}

// Blocks of every class in turn, each from a heap that was full of the class before.
TEST(xmalloc_reuse, memory_changes_its_class) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  for (const std::size_t bytes : {504u, 8184u, 1016u, 20'000u, 2040u, 100'000u, 4088u, 504u}) {
    const auto all = take_all(heap, bytes, 1);
    EXPECT_GE(all.size() * bytes, heap.bytes() * 7 / 10) << bytes;
    expect_valid(heap);
    for (std::size_t i = 0; i < all.size(); i += 512) {
      give(heap, {all.begin() + static_cast<std::ptrdiff_t>(i),
                  all.begin() + static_cast<std::ptrdiff_t>(std::min(i + 512, all.size()))});
    }
    EXPECT_EQ(heap.stats().blocks_in_use, 0u);
  }
  expect_whole(heap);
}

TEST(xmalloc_reuse, memoryblocks_merge_in_every_order) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  do {
    block_list blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(take_one(heap, heap.largest_block() / 5));
    for (const std::size_t i : order) {
      ASSERT_NE(blocks[i], nullptr);
      give(heap, {blocks[i]});
      expect_valid(heap);
    }
    expect_whole(heap);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(xmalloc_reuse, heaps_smaller_than_a_superblock_serve_every_size) {
  const heap<xmalloc<>> heap(machine(), 40_KiB);
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{504}, std::size_t{8184}, heap.largest_block()}) {
    std::byte* const block = take_one(heap, bytes);
    EXPECT_NE(block, nullptr) << bytes;
    give(heap, {block});
    expect_whole(heap);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
