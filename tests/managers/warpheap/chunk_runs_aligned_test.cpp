// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignments beyond a chunk: a block takes the chunks that it needs, and no others.
#include "damage.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = warpheap_manager<warpheap_config{.smallest_chunk = 256, .largest_chunk = 256}>;
constexpr std::size_t alignment = 2048;
constexpr std::size_t bytes = 600;  // three chunks

TEST(warpheap_aligned_run, what_lies_between_blocks_is_free) {
  const exposed_heap<small> subject(80 * 1024);
  const auto& heap = subject.heap();
  const std::size_t before = heap.stats().bytes_in_use;
  std::vector<std::byte*> blocks;
  // Until there is none: a chunk that is free and in use would be found by the inspection, and one
  // that is neither as well.
  for (;;) {
    void* block = nullptr;
    machine().launch({1, 1}, [&] { block = heap.ref().aligned_malloc(alignment, bytes); });
    expect_valid(heap);
    if (block == nullptr) break;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
    blocks.push_back(static_cast<std::byte*>(block));
    EXPECT_EQ(heap.stats().bytes_in_use - before, blocks.size() * 768);
  }
  EXPECT_GE(blocks.size(), 20u);
  // The gaps are free: each has five chunks of 256 bytes.
  EXPECT_EQ(test::take(heap, 1280, 8).size(), 8u);
  give(heap, blocks);
  expect_valid(heap);
}

TEST(warpheap_aligned_run, what_was_freed_serves_the_same_request_again) {
  const exposed_heap<small> subject(80 * 1024);
  const auto& heap = subject.heap();
  machine().launch({1, 1}, [&] {
    const auto take = [&] { return heap.ref().aligned_malloc(alignment, alignment); };
    std::vector<void*> blocks;
    while (void* const block = take()) blocks.push_back(block);
    ASSERT_GE(blocks.size(), 20u);
    for (void*& block : blocks) {
      heap.ref().free(block);
      void* const again = take();
      EXPECT_EQ(again, block) << "block " << (&block - blocks.data()) << " of " << blocks.size();
      block = again;
    }
  });
  expect_valid(heap);
}

// There is at most one place of such an alignment in the heap, and it may lie outside.
TEST(warpheap_aligned_run, an_alignment_beyond_the_heap_is_served_where_the_heap_has_such_a_place) {
  const exposed_heap<small> subject(80 * 1024);
  const auto& heap = subject.heap();
  std::uint64_t never = 0;
  machine().launch({1, 1}, [&] {
    for (int log2 = 17; log2 < 64; ++log2) {
      const std::size_t wide = std::size_t{1} << log2;
      auto* const block = static_cast<std::byte*>(heap.ref().aligned_malloc(wide, bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % wide, 0u) << "2^" << log2;
      heap.ref().free(block);
      const auto first = reinterpret_cast<std::uintptr_t>(heap.ref().malloc(heap.largest_block()));
      heap.ref().free(reinterpret_cast<void*>(first));
      const std::uintptr_t place = (first + wide - 1) / wide * wide;  // 0: beyond all addresses
      const bool fits = place != 0 && place + bytes <= first + heap.largest_block();
      EXPECT_EQ(block != nullptr, fits) << "2^" << log2;
      never += fits ? 0 : 1;
    }
  });
  EXPECT_EQ(heap.stats().impossible, never);
  EXPECT_EQ(heap.stats().failures, 0u);
  expect_valid(heap);
}

// Where the heap lies decides how many places there are: from none to all that its length has room
// for. So it is moved past a multiple of the largest alignment, chunk by chunk.
TEST(warpheap_aligned_run,
     all_places_of_an_alignment_are_served_and_no_other_wherever_the_heap_lies) {
  constexpr std::size_t region_bytes = 80 * 1024;
  constexpr std::uintptr_t largest = std::uintptr_t{1} << 20;
  std::vector<std::byte> memory(2 * largest + 2 * region_bytes);
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t border = round_up(start + 2 * region_bytes, largest);
  std::size_t most = 0;
  for (std::uintptr_t before = 0; before <= region_bytes; before += 4864) {
    const std::uintptr_t base = round_down(border - before, std::uintptr_t{256});
    const small manager({memory.data() + (base - start), region_bytes}, machine().properties(), {});
    const auto first = reinterpret_cast<std::uintptr_t>(manager.touched(0)[2].base);
    const std::uintptr_t end = first + manager.largest_block();
    for (std::uintptr_t wide = 4096; wide <= largest; wide *= 4) {
      std::size_t places = 0;
      for (std::uintptr_t at = round_up(first, wide); at + bytes <= end; at += wide) ++places;
      std::vector<std::uintptr_t> blocks;
      machine().launch({1, 1}, [&] {
        manager.format(0, 1);
        while (manager.can_align(wide, bytes) && blocks.size() <= places) {
          auto* const block = manager.aligned_malloc(wide, bytes);
          if (block == nullptr) break;
          blocks.push_back(reinterpret_cast<std::uintptr_t>(block));
        }
      });
      EXPECT_EQ(blocks.size(), places) << wide << " in a heap at " << first - border;
      for (const std::uintptr_t block : blocks) EXPECT_EQ(block % wide, 0u) << wide;
      most = std::max(most, places);
    }
  }
  EXPECT_GE(most, 15u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
