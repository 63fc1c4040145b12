// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(fdg_malloc_of_large_heaps, the_last_superblocks_and_headers_are_warp_heaps) {
  for (const heap_size& of : {heap_size{70_GiB}, heap_size{17_TiB, 1u << 31}}) {
    in_region_of(of.bytes, [&](const region& memory) {
      const fdg_malloc<> manager(memory, small_machine(), {});
      const std::uint32_t count = manager.superblocks();
      if (of.most != 0) {
        ASSERT_EQ(count, of.most);
      }
      region_cursor cursor(memory, "the same");
      const fdg_superblocks superblocks(cursor, count);
      const fdg_headers headers(cursor, count);
      const std::uint32_t middle = count / 2;
      const std::size_t unit = manager.superblock_bytes();
      // Runs come from the back, single ones from the front. More than 64 GiB in one run.
      constexpr std::uint32_t long_run = (1u << 23) + 1;
      in_a_lane([&] {
        format_fronts(manager, 1);
        clear_fronts(superblocks.free_ones(), 1);
        clear_fronts(headers.free_ones(), 1);
        for (const std::uint32_t i : {0u, middle, count - 1}) headers.free_ones().insert(i);
        for (const std::uint32_t i : {0u, middle}) superblocks.free_ones().insert(i);
        insert_run(superblocks.free_ones(), count - 3, 3);
        const std::byte* first = nullptr;
        for (int round = 0; round < 3; ++round) {
          const auto alone = simt::coalesced(nullptr);
          const std::array opened{manager.begin(alone), manager.begin(alone), manager.begin(alone)};
          EXPECT_EQ(opened[0].number, 1u);
          EXPECT_EQ(opened[1].number, middle + 1);
          EXPECT_EQ(opened[2].number, count);
          EXPECT_FALSE(manager.begin(alone));
          const auto take = [&](std::size_t of_these, std::size_t bytes) {
            return static_cast<std::byte*>(manager.malloc(opened[of_these], bytes));
          };
          std::byte* const run = take(2, 3 * unit);
          std::byte* const low = take(0, unit);
          std::byte* const between = take(1, unit / 2);
          if (first == nullptr) first = low;
          EXPECT_EQ(low, first);
          EXPECT_EQ(between, first + middle * unit);
          EXPECT_EQ(take(1, unit / 2), between + unit / 2);
          EXPECT_EQ(run, first + (count - 3) * unit);
          EXPECT_EQ(take(1, unit), nullptr);
          for (const auto& heap : opened) manager.end(heap);
        }
        EXPECT_GE(first, memory.base);
        EXPECT_LE(first + count * unit, memory.base + memory.bytes);
        insert_run(superblocks.free_ones(), count - long_run, long_run);
        const auto heap = manager.begin(simt::coalesced(nullptr));
        EXPECT_EQ(manager.malloc(heap, long_run * unit), first + (count - long_run) * unit);
        if (of.most == 0) {  // a search of all words, which the largest heap has too many of
          EXPECT_EQ(manager.malloc(heap, 2 * unit), nullptr);
        }
        manager.end(heap);
        const auto again = manager.begin(simt::coalesced(nullptr));
        EXPECT_EQ(manager.malloc(again, 2 * unit), first + (count - 2) * unit);
        manager.end(again);
      });
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
