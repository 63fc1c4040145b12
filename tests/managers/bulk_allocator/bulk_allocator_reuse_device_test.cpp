// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many blocks of each size fill a heap, and what becomes of memory that was freed.
#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = bulk_allocator<>;
using sizes = bulk_parts::geometry<bulk_allocator_config{}>;

class bulk_reuse : public heap_test<manager> {
 protected:
  static constexpr std::size_t mib = race_checked ? 1 : sanitized ? 2 : 7;
  // No power of two, and no whole number of chunks.
  static constexpr std::size_t heap_bytes = (mib << 20) + 12'345;

  bulk_reuse() : heap_test(heap_bytes) {}

  std::uint64_t pages() const { return heap_.ref().manager().pages(); }
};

TEST_F(bulk_reuse, every_page_can_be_allocated_at_each_order) {
  for (std::uint64_t bytes = 4096; bytes <= heap_.largest_block(); bytes *= 2) {
    const auto blocks = take_all(bytes);
    EXPECT_EQ(blocks.size(), pages() * 4096 / bytes) << bytes;
    EXPECT_EQ(heap_.stats().bytes_in_use, blocks.size() * bytes);
    give(blocks);
    EXPECT_EQ(heap_.stats().blocks_in_use, 0u);
  }
}

TEST_F(bulk_reuse, every_bin_can_be_allocated_at_each_size) {
  for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
    const std::uint64_t bytes = std::uint64_t{16} << cls;
    const auto blocks = take_all(bytes);
    EXPECT_EQ(blocks.size(), pages() / 128 * 124 * sizes::blocks(cls)) << bytes;
    EXPECT_EQ(heap_.stats().bytes_in_use, blocks.size() * bytes);
    for (void* block : blocks) ASSERT_NE(reinterpret_cast<std::uint64_t>(block) % 4096, 0u);
    give(blocks);
    EXPECT_EQ(heap_.stats().blocks_in_use, 0u);
  }
}

// Beyond 1 KiB a request has pages of its own.
TEST_F(bulk_reuse, sizes_at_the_border_of_the_two_allocators) {
  EXPECT_EQ(take(1024, 1).size(), 1u);
  EXPECT_EQ(heap_.stats().bytes_in_use, 1024u);
  EXPECT_EQ(take(1025, 1).size(), 1u);
  EXPECT_EQ(heap_.stats().bytes_in_use, 1024u + 4096u);
  EXPECT_EQ(take(4097, 1).size(), 1u);
  EXPECT_EQ(heap_.stats().bytes_in_use, 1024u + 4096u + 8192u);
}

// Blocks go back to the arenas that they came from, and what arenas keep is available when it is
// needed.
TEST_F(bulk_reuse, the_heap_is_whole_after_blocks_of_all_sizes_were_freed_by_other_lanes) {
  block_list blocks;
  for (std::uint64_t bytes = 16; bytes <= 8192; bytes *= 2) {
    const auto more = take(bytes, heap_bytes / 32 / bytes);
    EXPECT_EQ(more.size(), heap_bytes / 32 / bytes) << bytes;
    blocks.insert(blocks.end(), more.begin(), more.end());
  }
  std::reverse(blocks.begin(), blocks.end());
  give(blocks);
  EXPECT_EQ(heap_.stats().blocks_in_use, 0u);
  EXPECT_EQ(take(heap_.largest_block(), 1).size(), 1u);
}

// One block of each bin keeps it; freed memory of one size cannot serve another then.
TEST_F(bulk_reuse, a_bin_in_use_keeps_its_size) {
  auto blocks = take_all(16);
  std::sort(blocks.begin(), blocks.end());
  block_list kept;
  block_list freed;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // The first block of each page, and with it of each bin.
    const bool first = i == 0 || reinterpret_cast<std::uint64_t>(blocks[i]) / 4096 !=
                                     reinterpret_cast<std::uint64_t>(blocks[i - 1]) / 4096;
    (first ? kept : freed).push_back(blocks[i]);
  }
  give(freed);
  EXPECT_EQ(heap_.stats().blocks_in_use, kept.size());
  EXPECT_TRUE(take(32, 10).empty());
  EXPECT_EQ(take_all(16).size(), freed.size());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
