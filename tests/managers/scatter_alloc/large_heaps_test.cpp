// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(scatter_alloc_of_large_heaps, large_blocks_leave_the_far_end_to_small_ones) {
  expect_small_blocks_at_the_far_end<scatter_alloc<>>({5, 70, 139});
}

/// Free are the first page, that in the middle, the last three, and the one where requests of the
/// size at hand start to look.
void expect_pages(std::size_t heap_bytes) {
  using manager_type = scatter_alloc<>;
  constexpr std::size_t page = manager_type::sizes::page_bytes;
  in_region_of(heap_bytes, [&](const region& memory) {
    const manager_type manager(memory, small_machine(), {});
    const auto& parts = manager.parts();
    const std::uint32_t count = parts.table().pages();
    std::byte* const first = parts.table().address(0);
    EXPECT_GE(first, memory.base);
    EXPECT_LE(first + count * page, memory.base + memory.bytes);
    const std::set<std::uint32_t> others{0, count / 2, count - 3, count - 2, count - 1};
    in_a_lane([&] {
      format_fronts(manager, 1);
      clear_fronts(parts.free_pages(), 1);
      for (const std::uint32_t i : others) parts.free_pages().insert(i);
      // As if a run had all Super Blocks but the last one, where requests start to look then.
      const std::uint32_t last = parts.blocks().count() - 1;
      parts.blocks().take(0, parts.blocks().first_page(last));
      for (const std::size_t bytes : {16, 48, 1024, 2048}) {
        const auto units = manager_type::sizes::units_for(bytes);
        const std::uint32_t start = parts.start_page(units * 16);
        EXPECT_GE(start, parts.blocks().first_page(last));
        EXPECT_TRUE(parts.free_pages().insert(start));
        // One more would be a search of all pages, of which there are too many.
        const std::size_t fit = manager_type::sizes::capacity(units) + others.size();
        byte_blocks blocks;
        std::set<std::uint32_t> seen;
        while (blocks.size() < fit) {
          std::byte* const block = blocks.emplace_back(take(manager, bytes));
          if (block == nullptr) break;
          EXPECT_EQ(manager.usable_size(block), bytes);
          seen.insert(static_cast<std::uint32_t>((block - first) / page));
        }
        std::set<std::uint32_t> free_pages(others);
        free_pages.insert(start);
        EXPECT_EQ(seen, free_pages) << bytes;
        expect_apart(blocks, bytes, first, first + count * page);
        give(manager, blocks);
        EXPECT_TRUE(parts.free_pages().remove(start)) << bytes;
        for (const std::uint32_t i : others) EXPECT_TRUE(parts.free_pages().contains(i)) << bytes;
      }
      byte_blocks pages;
      while (pages.size() < others.size()) pages.push_back(take(manager, page));
      expect_apart(pages, page, first, first + count * page);
      give(manager, pages);
      for (int round = 0; round < 2; ++round) {
        std::byte* const run = take(manager, 3 * page);
        EXPECT_EQ(run, first + (count - 3) * page);
        EXPECT_EQ(manager.usable_size(run), 3 * page);
        EXPECT_EQ(take(manager, 3 * page), nullptr);
        manager.free(run);
      }
      // More than 64 GiB in one run.
      constexpr std::uint32_t long_run = (1u << 24) + 1;
      insert_run(parts.free_pages(), count - long_run, long_run - 3);
      std::byte* const run = take(manager, long_run * page);
      EXPECT_EQ(run, first + (count - long_run) * page);
      EXPECT_EQ(manager.usable_size(run), long_run * page);
      manager.free(run);
      EXPECT_EQ(take(manager, long_run * page), run);
    });
  });
}

TEST(scatter_alloc_of_large_heaps, the_last_pages_hold_runs_and_chunks) { expect_pages(140_GiB); }
// Just below 2^31 pages, tables included, is the largest heap that it accepts.
TEST(scatter_alloc_of_large_heaps, so_do_those_of_the_largest_heap) { expect_pages(8_TiB - 4096); }

// All together, lanes want more pages than a 32-bit number can count: modulo 2^32, as many as are
// free.
TEST(scatter_alloc_of_large_heaps, lanes_that_together_want_2_to_the_32_pages_get_none) {
  using manager_type = scatter_alloc<>;
  in_region_of(8_TiB - 4096, [](const region& memory) {
    const manager_type manager(memory, small_machine(), {});
    const auto& parts = manager.parts();
    constexpr std::uint32_t lanes = 32;
    std::vector<void*> got(lanes, memory.base);
    in_a_lane([&] {
      format_fronts(manager, 1);
      clear_fronts(parts.free_pages(), 1);
      insert_run(parts.free_pages(), parts.table().pages() - 2 * lanes, 2 * lanes);
    });
    constexpr std::size_t pages = (std::size_t{1} << 32) / lanes + 1;
    machine().launch({1, lanes}, [&] {
      got[static_cast<std::size_t>(simt::lane_id())] =
          manager.malloc(pages * manager_type::sizes::page_bytes);
    });
    EXPECT_EQ(std::count(got.begin(), got.end(), nullptr), lanes);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
