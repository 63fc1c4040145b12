// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As largest_heaps_test.cpp, for managers whose blocks are cut out of pages or segments.
#include "warpheap/core/units.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include "untouched_memory.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using byte_blocks = std::vector<std::byte*>;

template <class M>
std::byte* take(const M& manager, std::size_t bytes) {
  return static_cast<std::byte*>(manager.malloc(bytes));
}

template <class M>
void give(const M& manager, const byte_blocks& blocks) {
  for (std::byte* block : blocks) manager.free(block);
}

/// These blocks, of `bytes` each, are apart from each other, and between the two addresses.
void expect_apart(byte_blocks blocks, std::size_t bytes, const std::byte* first,
                  const std::byte* end) {
  std::sort(blocks.begin(), blocks.end());
  EXPECT_GE(blocks.front(), first) << bytes;
  EXPECT_LE(blocks.back() + bytes, end) << bytes;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    ASSERT_GE(blocks[i], blocks[i - 1] + bytes) << bytes;
  }
}

/// Segments 0, the one in the middle and the last three are free.
template <gallatin_config Config>
void expect_segments(std::size_t heap_bytes, std::uint32_t most = 0) {
  in_region_of(heap_bytes, [&](const region& memory) {
    const gallatin<Config> manager(memory, small_machine(), {});
    const std::size_t unit = manager.shape().segment_bytes();
    const std::uint32_t count = manager.shape().segments();
    if (most != 0) {
      ASSERT_EQ(count, most);
    }
    constexpr std::uint64_t lanes = 64;  // more than there are searches and lines of slots
    // More than 64 GiB in one run.
    const auto long_run = static_cast<std::uint32_t>(64_GiB / unit + 1);
    const auto& segments = manager.buffers().blocks().segments();
    std::byte* const first = manager.segments();
    EXPECT_GE(first, memory.base);
    EXPECT_LE(first + count * unit, memory.base + memory.bytes);
    const auto at = [&](std::uint32_t i) { return first + std::size_t{i} * unit; };
    in_a_lane([&] {
      format_fronts(manager, lanes);
      clear_fronts(segments.free_segments(), lanes);
      for (const std::uint32_t i : {0u, count / 2}) segments.free_segments().insert(i);
      insert_run(segments.free_segments(), count - 3, 3);
      std::byte* const run = take(manager, 3 * unit);
      EXPECT_EQ(run, at(count - 3));
      manager.free(run);
      const byte_blocks all{at(0), at(count / 2), at(count - 3), at(count - 2), at(count - 1)};
      for (const std::uint32_t here : {0u, count / 2, count - 1}) {
        byte_blocks held;
        for (std::size_t i = 0; i < all.size(); ++i) held.push_back(take(manager, unit));
        ASSERT_EQ(held, all);
        EXPECT_EQ(take(manager, unit), nullptr);
        held.erase(std::find(held.begin(), held.end(), at(here)));
        manager.free(at(here));
        // Whole blocks, and units out of the first block and of the next one.
        for (const std::size_t bytes : {unit / 2, unit / 16, std::size_t{32768}, std::size_t{12288},
                                        std::size_t{4096}, std::size_t{16}}) {
          byte_blocks blocks;
          for (std::size_t i = 0; i < unit / bytes && i < 5000; ++i) {
            blocks.push_back(take(manager, bytes));
          }
          expect_apart(blocks, bytes, at(here), at(here) + unit);
          give(manager, blocks);
          // All of it is back, what waited in slots, too.
          EXPECT_EQ(take(manager, unit), at(here));
          manager.free(at(here));
        }
        give(manager, held);
      }
      EXPECT_EQ(take(manager, 3 * unit), at(count - 3));
      manager.free(at(count - 3));
      insert_run(segments.free_segments(), count - long_run, long_run - 3);
      EXPECT_EQ(take(manager, long_run * unit), at(count - long_run));
      manager.free(at(count - long_run));
      EXPECT_EQ(take(manager, long_run * unit), at(count - long_run));
    });
  });
}

TEST(gallatin_of_large_heaps, the_last_segments_hold_runs_blocks_and_units) {
  expect_segments<gallatin_config{}>(140_GiB);
}
TEST(gallatin_of_large_heaps, so_do_those_of_a_heap_of_half_of_all_addresses) {
  expect_segments<gallatin_config{}>(64_TiB);
}
TEST(gallatin_of_large_heaps, so_do_those_of_a_heap_with_as_many_as_there_can_be) {
  expect_segments<gallatin_config{.segment_bytes = 1_MiB}>(9_TiB, 1u << 23);
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
