// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(warpheap_of_large_heaps, the_largest_blocks_fill_them_to_the_end) {
  expect_the_largest_to_fill<warpheap_manager<>>({5, 70});
}

// Words have numbers of 32 bits, and 48 slots of 16 bytes: that is 3 TiB. The tables of chunks are
// short, so all chunks are free here; runs leave few of them to slots.
TEST(warpheap_of_large_heaps, the_last_chunks_hold_runs_and_slots) {
  for (const std::size_t bytes : {70_GiB, 3_TiB}) {
    in_region_of(bytes, [&](const region& memory) {
      const warpheap_manager<> manager(memory, small_machine(), {});
      const std::size_t chunk = manager.growth_step();
      const std::size_t count = manager.largest_block() / chunk;
      ASSERT_LE(count * manager.parts().chunks().stride(), std::size_t{1} << 32);
      in_a_lane([&] { format_fronts(manager, 4096); });
      std::byte* first = nullptr;
      std::vector<void*> runs;
      const auto take = [&](std::size_t size) {
        auto* const block = static_cast<std::byte*>(manager.malloc(size));
        EXPECT_NE(block, nullptr);
        if (block != nullptr) {
          EXPECT_GE(manager.usable_size(block), size);
        }
        return block;
      };
      in_a_lane([&] {
        // No single chunk: it may be taken anywhere.
        first = take(count / 2 * chunk);
        runs.push_back(first);
        EXPECT_EQ(runs.emplace_back(take((count - count / 2 - 3) * chunk)),
                  first + count / 2 * chunk);
      });
      EXPECT_GE(first, memory.base);
      EXPECT_LE(first + count * chunk, memory.base + memory.bytes);
      const std::byte* const left = first + (count - 3) * chunk;
      for (const std::size_t size : {chunk / 2, chunk / 64, std::size_t{16}}) {
        const std::size_t fit = size == 16 ? 1000 : 3 * (chunk / size);
        std::vector<std::byte*> blocks;
        in_a_lane([&] {
          while (blocks.size() < fit) blocks.push_back(take(size));
          if (size == 16) return;
          EXPECT_EQ(manager.malloc(size), nullptr);
          // Each slot of a full class is offered to the next request by the number of its word.
          for (std::byte* block : blocks) {
            manager.free(block);
            EXPECT_EQ(manager.malloc(size), block);
          }
        });
        std::sort(blocks.begin(), blocks.end());
        EXPECT_GE(blocks.front(), left);
        EXPECT_LE(blocks.back() + size, first + count * chunk);
        for (std::size_t i = 1; i < blocks.size(); ++i) ASSERT_GE(blocks[i], blocks[i - 1] + size);
        in_a_lane([&] {
          for (std::byte* block : blocks) manager.free(block);
        });
      }
      in_a_lane([&] {
        for (void* run : runs) manager.free(run);
        EXPECT_EQ(take(count * chunk), first);
      });
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
