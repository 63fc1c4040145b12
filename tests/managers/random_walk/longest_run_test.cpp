// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "take_and_give.hpp"

#include "warpheap/managers/random_walk/rw_malloc.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// Walks draw 32 of thousands of places, so it is the search that finds it.
TEST(rw_malloc, the_last_run_of_the_longest_size_is_found) {
  using manager = rw_malloc<>;
  const heap<manager> heap(machine(), std::size_t{16} << 20);
  const std::size_t bytes = heap.ref().manager().largest_block();
  block_list all = take(heap, bytes, 4096);
  EXPECT_GT(all.size(), 1000u);
  for (const std::size_t one : {std::size_t{7}, all.size() / 2, all.size() - 1}) {
    give(heap, block_list{all[one]});
    const block_list again = take(heap, bytes, 1);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0], all[one]);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
