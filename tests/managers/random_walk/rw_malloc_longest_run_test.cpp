// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rubbish.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <vector>

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

// What it leaves is known then, so that no round follows that would find as little.
TEST(rw_malloc, a_search_that_finds_too_short_runs_is_the_last_one) {
  using manager = rw_malloc<>;
  const rubbish memory(64_KiB);
  const manager all(memory.all(), simt::device_properties{}, {});
  const auto run = [](std::uint64_t most_steps, const auto& kernel) {
    return simt::explorer({1, 1}, most_steps).run({simt::strategy::sticky, 1}, kernel).stuck;
  };
  EXPECT_EQ(run(1'000'000,
                [&] {
                  all.format(0, 1);
                  std::vector<void*> blocks;
                  while (void* const block = all.malloc(1)) blocks.push_back(block);
                  ASSERT_GT(blocks.size(), 100u);
                  std::sort(blocks.begin(), blocks.end());
                  for (std::size_t i = 0; i < blocks.size(); i += 2) all.free(blocks[i]);
                }),
            "");
  constexpr std::uint64_t one_search_and_a_half = 400;
  EXPECT_EQ(run(one_search_and_a_half, [&] { EXPECT_EQ(all.malloc(300), nullptr); }), "");
}

TEST(page_pool, holds_its_pages_and_nothing_behind_them) {
  const rubbish memory(4_KiB);
  region_cursor cursor = memory.cursor();
  const random_walk::page_pool pages(cursor, 8, {.page_bytes = 256});
  const auto* const first = static_cast<std::byte*>(pages.address(0));
  EXPECT_FALSE(pages.holds(first - 1));
  EXPECT_TRUE(pages.holds(first));
  EXPECT_TRUE(pages.holds(first + 8 * 256 - 1));
  EXPECT_FALSE(pages.holds(first + 8 * 256));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
