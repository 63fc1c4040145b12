// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request costs that finds nothing.
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

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
