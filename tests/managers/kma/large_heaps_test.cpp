// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/kma/kma.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(kma_of_large_heaps, the_largest_blocks_fill_them_to_the_end) {
  expect_the_largest_to_fill<kma<>>({5});
}

TEST(kma_of_large_heaps, the_last_superblocks_hold_blocks) {
  for (const heap_size& of : {heap_size{70_GiB}, heap_size{9_TiB, 1u << 31}}) {
    in_region_of(of.bytes, [&](const region& memory) {
      const kma<> manager(memory, small_machine(1), {});  // one multiprocessor, one queue
      const std::uint32_t count = manager.superblocks();
      if (of.most != 0) {
        ASSERT_EQ(count, of.most);
      }
      const std::uint32_t middle = count / 2;
      in_a_lane([&] {
        format_fronts(manager, 4096);
        // A queue of one node, at the same place.
        region_cursor front(memory, "the same");
        front.take<std::uint64_t>(1, 128);  // moves
        kma_empty_queues(front, 1, 1).format(0, 1);
        region_cursor all(memory, "the same");
        const kma_superblocks<kma_config{}> same(all, count, 1);
        for (const std::uint32_t i : {middle, count - 1, 1u}) same.empty_ones().enqueue(i);
      });
      // The queue keeps one of them.
      expect_units(manager, memory, 4096, count, {0, 1, middle, count - 1u}, 3);
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
