// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(bulk_allocator_of_large_heaps, the_largest_blocks_fill_them_to_the_end) {
  expect_the_largest_to_fill<bulk_allocator<>>({5, 70, 139});
}

/// All pages are free here: few nodes of the tree stand for them.
class large_bulk_heap {
 public:
  using manager_type = bulk_allocator<>;
  using sizes = bulk_parts::geometry<bulk_allocator_config{}>;
  static constexpr std::size_t page = 4096;

  explicit large_bulk_heap(const region& memory)
      : manager_(memory, small_machine(), {}), end_(memory.base + memory.bytes) {
    region_cursor cursor(memory, "the same");
    same_.lay_out(cursor, pages(), small_machine().multiprocessors);
    EXPECT_GE(first(), memory.base);
    EXPECT_LE(first() + pages() * page, end_);
    in_a_lane([&] {
      format_fronts(manager_, 64);  // more than there are lists
      const auto& tree = same_.buddy();
      for (int order = 0; order <= tree.top(); ++order) {
        const std::uint32_t nodes = tree.nodes_of(order);
        if (nodes % 2 != 0) tree.nodes(order).insert(nodes - 1);
      }
    });
  }

  const manager_type& manager() const { return manager_; }
  std::uint32_t pages() const { return manager_.pages(); }
  std::byte* first() const { return same_.table().heap(); }

  /// Takes the largest blocks that there are, until all is taken: they lie side by side.
  /// \param left pages that are in use
  void expect_tiled(std::uint32_t left) const {
    std::set<std::byte*> starts;
    byte_blocks ends;
    std::uint32_t taken = 0;
    for (int order = same_.buddy().top(); order >= 0; --order) {
      while (std::byte* const block = take(manager_, page << order)) {
        starts.insert(block);
        ends.push_back(block + (page << order));
        taken += 1u << order;
      }
    }
    EXPECT_EQ(taken + left, pages());
    // Each begins where another one ends, but for the first, and for one behind what is in use.
    std::size_t alone = 0;
    for (std::byte* end : ends) alone += starts.count(end) == 0 ? 1 : 0;
    EXPECT_LE(alone, left == 0 ? 1u : 2u);
    EXPECT_GE(*starts.begin(), first());
    EXPECT_LE(*std::max_element(ends.begin(), ends.end()), first() + pages() * page);
    give(manager_, byte_blocks(starts.begin(), starts.end()));
  }

  /// Small blocks come from the last chunk before `end`, where all below is free.
  void expect_small_blocks(const std::byte* end) const {
    constexpr std::size_t chunk = sizes::chunk_pages * page;
    const auto last = static_cast<std::uint32_t>((end - first()) / page);
    for (std::uint32_t i = last - sizes::chunk_pages; i < last; ++i) {
      same_.table().next(i).store(bulk_parts::slab_table::none, simt::order::relaxed);
      same_.table().previous(i).store(bulk_parts::slab_table::unlinked, simt::order::relaxed);
    }
    for (const std::size_t bytes : {16, 256, 1024}) {
      byte_blocks blocks;
      // All bins of the chunk but those that other sizes keep, or all blocks of some bins.
      const std::size_t fit =
          std::min((sizes::regular_bins - 2) * sizes::blocks(sizes::class_of(bytes)), 2000u);
      while (blocks.size() < fit) blocks.push_back(take(manager_, bytes));
      expect_apart(blocks, bytes, end - chunk, end);
      // Its map of bins is in its first page, which was zero.
      EXPECT_NE(*reinterpret_cast<const std::uint64_t*>(end - chunk), 0u);
      give(manager_, blocks);
    }
  }

 private:
  manager_type manager_;
  bulk_parts::arenas<bulk_allocator_config{}> same_;
  const std::byte* end_;
};

TEST(bulk_allocator_of_large_heaps, the_last_nodes_and_chunks_hold_blocks) {
  for (const std::size_t bytes : {140_GiB, 5_TiB}) {
    in_region_of(bytes, [&](const region& memory) {
      const large_bulk_heap heap(memory);
      if (bytes == 5_TiB) {
        ASSERT_EQ(heap.pages(), 1u << 30);  // as many as there can be
      }
      const auto& manager = heap.manager();
      constexpr std::size_t page = large_bulk_heap::page;
      const std::size_t most = manager.largest_block();
      in_a_lane([&] {
        heap.expect_tiled(0);
        // The end of the largest node, and of its lower half.
        std::byte* const all = take(manager, most);
        EXPECT_EQ(all, heap.first());
        manager.free(all);
        std::byte* const low = take(manager, page);
        heap.expect_tiled(1);
        manager.free(low);
        heap.expect_tiled(0);
        byte_blocks halves{take(manager, most / 2), take(manager, most / 2)};
        std::sort(halves.begin(), halves.end());
        EXPECT_EQ(halves, (byte_blocks{heap.first(), heap.first() + most / 2}));
        manager.free(halves[0]);
        if (most == heap.pages() * page) {
          std::byte* const middle = take(manager, page);
          EXPECT_EQ(middle, halves[1] - page);
          manager.free(middle);
          heap.expect_small_blocks(halves[1]);
        }
        manager.free(halves[1]);
        heap.expect_tiled(0);
        if (most == heap.pages() * page) heap.expect_small_blocks(heap.first() + most);
        heap.expect_tiled(0);
      });
    });
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
