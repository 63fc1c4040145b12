// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/halloc/halloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(halloc_of_large_heaps, the_largest_blocks_fill_them_to_the_end) {
  expect_the_largest_to_fill<halloc<>>({5});
}

/// \param is_full whether the other slabs are counted as full, so that searches of all slabs work
template <halloc_config Config>
void expect_slabs(std::size_t heap_bytes, bool is_full, std::uint64_t most = 0) {
  in_region_of(heap_bytes, [&](const region& memory) {
    const halloc<Config> manager(memory, small_machine(), {});
    const auto shape = manager.shape();
    if (most != 0) {
      ASSERT_EQ(shape.slabs(), most);
    }
    region_cursor cursor(memory, "the same");
    const halloc_parts::places<Config> same(shape, cursor);
    const auto& slabs = same.table();
    const std::uint32_t middle = shape.slabs() / 2;
    const std::uint32_t last = shape.slabs() - 1;
    in_a_lane([&] {
      format_fronts(manager, 1);
      clear_fronts(slabs.set(slabs.free_set), 1);
      same.head_slabs().format(0, 1);
      for (std::uint32_t kind = 0; kind < shape.kinds; ++kind) {
        slabs.known().searches(kind).format();
      }
      slabs.set(slabs.free_set).insert(0);
      for (const std::uint32_t i : {middle, last}) EXPECT_TRUE(slabs.release(i));
      for (std::uint32_t i = 1; is_full && i < last; ++i) {
        if (i != middle) slabs.add(i, shape.chunks(0));
      }
    });
    const auto slab_of = [&](const std::byte* block) {
      return static_cast<std::uint64_t>(block - manager.first_slab()) >> shape.slab_shift();
    };
    const numbers free_slabs{0, middle, last};
    std::vector<std::byte*> blocks;
    numbers seen;
    const auto take = [&](std::size_t bytes) {
      auto* const block = static_cast<std::byte*>(manager.malloc(bytes));
      if (block == nullptr) return false;
      EXPECT_EQ(manager.usable_size(block), bytes);
      seen.insert(slab_of(block));
      blocks.push_back(block);
      return true;
    };
    const auto expect_empty = [&](std::uint64_t slab) {
      EXPECT_EQ(slabs.look(static_cast<std::uint32_t>(slab)).used(), 0u) << slab;
    };
    for (int round = 0; round < 2; ++round) {
      in_a_lane([&] {
        // A head is replaced before it is full, so each of the slabs is one.
        while (seen.size() < 3 && take(3072)) {
        }
      });
      EXPECT_EQ(seen, free_slabs);
      // Two of them were used as far as heads are: no other slab has the same bits.
      EXPECT_GE(blocks.size(), std::size_t{2} * (shape.blocks(15) * 4 / 5));
      std::sort(blocks.begin(), blocks.end());
      EXPECT_GE(blocks.front(), manager.first_slab());
      EXPECT_LE(blocks.back() + 3072, memory.base + memory.bytes);
      for (std::size_t i = 1; i < blocks.size(); ++i) ASSERT_GE(blocks[i], blocks[i - 1] + 3072);
      in_a_lane([&] {
        if (is_full && round == 0) {
          // Chunks of another kind: after a search of all slabs there are none, and then the last
          // slab, which is empty again, has them.
          EXPECT_FALSE(take(2048));
          for (; !blocks.empty() && slab_of(blocks.back()) == last; blocks.pop_back()) {
            manager.free(blocks.back());
          }
          expect_empty(last);
          EXPECT_TRUE(take(2048));
          EXPECT_EQ(slab_of(blocks.back()), last);
        }
        for (std::byte* block : blocks) manager.free(block);
        for (const std::uint64_t i : free_slabs) expect_empty(i);
      });
      blocks.clear();
      seen.clear();
    }
  });
}

TEST(halloc_of_large_heaps, the_last_slabs_hold_blocks) {
  expect_slabs<halloc_config{}>(70_GiB, true);
}
TEST(halloc_of_large_heaps, so_do_those_of_a_heap_of_half_of_all_addresses) {
  expect_slabs<halloc_config{}>(64_TiB, false);
}
TEST(halloc_of_large_heaps, so_do_those_of_a_heap_with_as_many_as_there_can_be) {
  constexpr halloc_config small{.largest_slab = 64_KiB, .smallest_slab = 64_KiB};
  expect_slabs<small>(9_TiB, false, 1u << 27);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
