// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the blocks of a chunk lie, and how many of them there are, on the host.
#include "machine_of.hpp"

#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using sizes = bulk_parts::geometry<bulk_allocator_config{}>;

TEST(bulk_geometry, a_chunk_has_a_tail_for_each_regular_bin) {
  EXPECT_EQ(sizes::tails, 31u);
  EXPECT_EQ(sizes::special_bins, 4u);
  EXPECT_EQ(sizes::regular_bins, 124u);
  using published = bulk_parts::geometry<bulk_allocator_config{.chunk_log2 = 6}>;
  EXPECT_EQ(published::special_bins, 2u);
  EXPECT_EQ(published::regular_bins, 62u);
}

TEST(bulk_geometry, blocks_of_a_bin) {
  ASSERT_EQ(sizes::classes, 7u);
  const std::uint32_t expected[]{256, 128, 64, 32, 15, 7, 3};
  for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
    EXPECT_EQ(sizes::blocks(cls), expected[cls]) << cls;
    EXPECT_EQ(sizes::class_of(std::size_t{16} << cls), cls);
    EXPECT_EQ(sizes::class_of((std::size_t{16} << cls) / 2 + 1), cls);
  }
  EXPECT_EQ(sizes::class_of(1), 0u);
}

TEST(bulk_geometry, a_request_has_the_lowest_order_that_holds_it) {
  EXPECT_EQ(sizes::order_of(1), 0);
  EXPECT_EQ(sizes::order_of(4096), 0);
  EXPECT_EQ(sizes::order_of(4097), 1);
  EXPECT_EQ(sizes::order_of(8192), 1);
  EXPECT_EQ(sizes::order_of(8193), 2);
  EXPECT_EQ(sizes::order_of((std::size_t{1} << 37) + 1), 26);
}

/// All blocks of all bins of one chunk, far behind the start of the heap.
template <bulk_allocator_config Config>
void expect_blocks_that_free_finds() {
  using shape = bulk_parts::geometry<Config>;
  constexpr std::uint32_t chunk = (std::uint32_t{1} << 25) + 3 * shape::chunk_pages;
  for (std::uint32_t cls = 0; cls < shape::classes; ++cls) {
    const std::uint64_t bytes = std::uint64_t{Config.smallest_block} << cls;
    std::vector<std::uint64_t> starts;
    for (std::uint32_t bin = chunk + shape::special_bins; bin < chunk + shape::chunk_pages; ++bin) {
      for (std::uint32_t i = 0; i < shape::blocks(cls); ++i) {
        const std::uint64_t start = shape::block_start(bin, cls, i);
        ASSERT_EQ(start % 16, 0u);
        ASSERT_NE(start % Config.page_bytes, 0u) << "free takes it for a large block";
        ASSERT_GE(start % Config.page_bytes, Config.header_bytes) << "it lies in a header";
        ASSERT_EQ(start / Config.page_bytes, (start + bytes - 1) / Config.page_bytes);
        ASSERT_EQ(start / Config.page_bytes / shape::chunk_pages, chunk / shape::chunk_pages);
        const bulk_parts::small_place place = shape::place_of(start);
        ASSERT_EQ(place.bin, bin);
        ASSERT_EQ(shape::index_of(place, cls), i);
        starts.push_back(start);
      }
    }
    std::sort(starts.begin(), starts.end());
    for (std::size_t i = 1; i < starts.size(); ++i) ASSERT_GE(starts[i], starts[i - 1] + bytes);
  }
}

TEST(bulk_geometry, blocks_are_disjoint_and_free_finds_them) {
  expect_blocks_that_free_finds<bulk_allocator_config{}>();
  expect_blocks_that_free_finds<bulk_allocator_config{.chunk_log2 = 6}>();
  // As small as the explorer has it.
  expect_blocks_that_free_finds<bulk_allocator_config{.page_bytes = 128,
                                                      .header_bytes = 32,
                                                      .chunk_log2 = 2,
                                                      .smallest_block = 16,
                                                      .largest_small = 32}>();
}

bulk_allocator<> laid_out(std::size_t bytes, std::uint32_t multiprocessors) {
  return {region{reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30), bytes},
          machine_of(multiprocessors),
          {}};
}

TEST(bulk_geometry, heaps_of_any_size_are_covered) {
  EXPECT_THROW(laid_out(512_KiB, 132), region_too_small);
  const auto small = laid_out(600_KiB, 132);
  EXPECT_EQ(small.largest_block(), 512_KiB);
  for (const std::size_t bytes : {1_MiB, 100_MiB, 1_GiB - 4096, 130_GiB}) {
    const auto heap = laid_out(bytes, 132);
    const std::size_t covered = std::size_t{heap.pages()} * 4096;
    EXPECT_LE(covered, bytes);
    EXPECT_GE(static_cast<double>(covered), 0.95 * static_cast<double>(bytes)) << bytes;
    EXPECT_LE(heap.largest_block(), covered);
    EXPECT_GT(2 * heap.largest_block(), covered);
  }
  // More pages than there are numbers for stay unused.
  EXPECT_EQ(laid_out(std::size_t{5} << 40, 132).pages(), bulk_parts::buddy_tree::most_pages);
}

TEST(bulk_geometry, small_heaps_have_few_arenas) {
  using arenas = bulk_parts::arenas<bulk_allocator_config{}>;
  EXPECT_EQ(arenas::arenas_for(128, 132), 1u);
  EXPECT_EQ(arenas::arenas_for(8 * 128, 132), 2u);
  EXPECT_EQ(arenas::arenas_for(1u << 24, 132), 132u);
  EXPECT_EQ(arenas::arenas_for(1u << 24, 1), 1u);
}

TEST(bulk_geometry, the_bounds_of_a_configuration_are_possible) {
  using one_class =
      bulk_parts::geometry<bulk_allocator_config{.smallest_block = 32, .largest_small = 32}>;
  EXPECT_EQ(one_class::classes, 1u);
  using full_header =
      bulk_parts::geometry<bulk_allocator_config{.header_bytes = 128, .chunk_log2 = 10}>;
  EXPECT_EQ(full_header::chunk_pages, 1024u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
