// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request costs that finds nothing, and when a bin goes back to its chunk.
#include "full_of_blocks.hpp"
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small_heap = heap<bulk_allocator<small_pages>>;

void expect_null_at_once(const small_heap& from, std::size_t bytes) {
  void* block = nullptr;
  simt::explorer explorer({1, 1});
  const auto outcome =
      explorer.run({simt::strategy::sticky, 1}, [&] { block = from.ref().malloc(bytes); });
  EXPECT_EQ(outcome.stuck, "");
  EXPECT_EQ(block, nullptr);
  EXPECT_LT(outcome.steps, 100u);
}

// Where nothing is, nor expected, there is nothing to ask for: a look at each arena suffices.
TEST(bulk_allocator, a_heap_that_is_full_is_not_asked_again_and_again) {
  const small_heap heap(machine(), 16_KiB);
  ASSERT_FALSE(take_all(heap, 16, 32).empty());
  expect_null_at_once(heap, 16);
}

// What was given back is merged once. Then the notes that said so are gone.
TEST(bulk_allocator, a_heap_that_is_full_again_is_not_reclaimed_again_and_again) {
  const small_heap heap(machine(), 16_KiB);
  give(heap, take_all(heap, 16, 32));
  ASSERT_FALSE(take_all(heap, 100, 32).empty());
  expect_null_at_once(heap, 100);
}

// While no other bin of its size has free blocks, a bin that is wholly free stays and is noted.
TEST(bulk_allocator, a_bin_that_is_noted_goes_back_once_others_have_blocks) {
  const full_of_blocks heap(32);
  machine().launch({1, 1}, [&] {
    heap.free_of_bin(5, 4);
    EXPECT_EQ(heap.free_bins(), 0);
    void* const of_that = heap->malloc(32);
    for (const std::uint32_t bin : {1u, 2u}) heap.free_of_bin(bin, 2);
    EXPECT_EQ(heap.free_bins(), 0);
    heap->free(of_that);
    EXPECT_EQ(heap.free_bins(), 1);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
