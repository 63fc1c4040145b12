// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request costs that finds its own part of the heap full.
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// A search of all pages is the last resort.
TEST(scatter_alloc, a_free_page_is_found_wherever_it_is_without_a_look_at_the_others) {
  const heap<small> heap(machine(), 256_KiB);
  const block_list all = take_all(heap, 256, 32);
  ASSERT_GT(all.size(), 800u);
  for (const std::size_t i : {std::size_t{0}, all.size() / 2, all.size() - 1}) {
    give(heap, {all[i]});
    void* block = nullptr;
    simt::explorer explorer({1, 1});
    const auto outcome =
        explorer.run({simt::strategy::sticky, 1}, [&] { block = heap.ref().malloc(100); });
    EXPECT_EQ(outcome.stuck, "");
    EXPECT_EQ(block, all[i]);
    EXPECT_LT(outcome.steps, 100u);
    heap.on().launch({1, 1}, [&] { heap.ref().free(block); });
    EXPECT_EQ(take_one(heap, 256), all[i]);
  }
}

// Two pages are free in the last part of the heap, apart, so a run is looked for there first.
TEST(scatter_alloc, a_run_is_found_before_the_part_where_the_search_begins) {
  const heap<small> heap(machine(), 30_KiB);
  block_list all = take_all(heap, 200, 32);
  std::sort(all.begin(), all.end());
  ASSERT_GT(all.size(), 96u);
  ASSERT_LE(all.size(), 128u) << "a part in the second word of the tree of free pages";
  give(heap, {all[0], all[1], all[all.size() - 1], all[all.size() - 3]});
  EXPECT_EQ(take_one(heap, 300), all[0]);
}

// Chunks, pages and runs, none of which is there.
TEST(scatter_alloc, a_request_that_was_refused_is_refused_at_once_again) {
  const heap<small> heap(machine(), 30_KiB);
  take_all(heap, 256, 32);
  for (const std::size_t bytes : {100, 200, 300}) {
    EXPECT_EQ(take_one(heap, bytes), nullptr);
    simt::explorer explorer({1, 1});
    const auto again = explorer.run({simt::strategy::sticky, 1}, [&] { heap.ref().malloc(bytes); });
    EXPECT_LT(again.steps, 40u) << bytes;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
