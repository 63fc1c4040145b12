// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes and limits, on the host: heaps of any size, whose memory nobody touches.
#include "message_of.hpp"

#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using sizes = scatter_parts::geometry<scatter_config{}>;

TEST(scatter_alloc_geometry, pages_hold_as_many_chunks_as_published) {
  const struct {
    std::uint32_t bytes;
    std::uint32_t chunks;
  } published[]{{16, 254}, {32, 127}, {48, 85}, {64, 63},  {80, 51},  {96, 42}, {112, 36},
                {128, 32}, {256, 16}, {512, 8}, {1024, 4}, {1360, 3}, {2048, 2}};
  for (const auto& page : published) {
    EXPECT_EQ(sizes::capacity(page.bytes / 16), page.chunks) << page.bytes << " bytes";
  }
  EXPECT_TRUE(sizes::has_two_levels(7));
  EXPECT_FALSE(sizes::has_two_levels(8));
  EXPECT_EQ(sizes::segments(1), 8u);
  EXPECT_EQ(sizes::chunk_bits(1, 0), 0xffffffffu);
  EXPECT_EQ(popcount(sizes::chunk_bits(1, 7)), 30);
  EXPECT_EQ(sizes::segments(8), 1u);
  EXPECT_EQ(sizes::chunk_bits(8, 0), 0xffffffffu);
}

template <std::uint32_t PageBytes>
void expect_chunks_and_masks_fit() {
  using of_page = scatter_parts::geometry<scatter_config{.page_bytes = PageBytes}>;
  for (std::uint32_t units = 1; units <= of_page::chunk_sizes; ++units) {
    const std::uint32_t capacity = of_page::capacity(units);
    const std::uint32_t masks = of_page::has_two_levels(units) ? of_page::segments(units) * 4 : 0;
    EXPECT_LE(capacity * units * 16 + masks, PageBytes) << units;
    EXPECT_GE(capacity, 2u) << units;
    EXPECT_LE(of_page::segments(units), 32u) << units;
    std::uint32_t bits = 0;
    for (std::uint32_t s = 0; s < of_page::segments(units); ++s) {
      EXPECT_NE(of_page::chunk_bits(units, s), 0u) << units;
      bits += static_cast<std::uint32_t>(popcount(of_page::chunk_bits(units, s)));
    }
    EXPECT_EQ(bits, capacity) << units;
  }
}

TEST(scatter_alloc_geometry, chunks_and_masks_of_every_size_fit_into_a_page) {
  expect_chunks_and_masks_fit<256>();
  expect_chunks_and_masks_fit<1024>();
  expect_chunks_and_masks_fit<4096>();
  expect_chunks_and_masks_fit<65536>();
}

TEST(scatter_alloc_geometry, a_request_takes_chunks_of_one_to_two_times_its_size) {
  EXPECT_EQ(sizes::units_for(1), 1u);
  EXPECT_EQ(sizes::units_for(16), 1u);
  EXPECT_EQ(sizes::units_for(17), 2u);
  EXPECT_EQ(sizes::units_for(2048), sizes::chunk_sizes);
  // A page of 64 bytes.
  EXPECT_TRUE(sizes::suits(2, 4));
  EXPECT_TRUE(sizes::suits(4, 4));
  EXPECT_FALSE(sizes::suits(1, 4));
  EXPECT_FALSE(sizes::suits(5, 4));
  EXPECT_EQ(sizes::pages_for(2049), 1u);
  EXPECT_EQ(sizes::pages_for(4096), 1u);
  EXPECT_EQ(sizes::pages_for(4097), 2u);
  EXPECT_EQ(sizes::pages_for((std::size_t{1} << 32) + 16), (1u << 20) + 1u);
}

TEST(scatter_alloc_geometry, start_pages_are_hashed_by_size_multiprocessor_and_warp) {
  EXPECT_EQ(sizes::start_page(16, 0, 0, 0, 1u << 20), 16u * 38183u);
  EXPECT_EQ(sizes::start_page(16, 3, 5, 31, 1u << 20), 16u * 38183u + 3u * 17497u + 5u);
  // For blocks of 256 bytes, a warp needs two pages, and has three to itself.
  EXPECT_EQ(sizes::start_page(256, 0, 5, 15, 1u << 30), 256u * 38183u + 15u);
  EXPECT_EQ(sizes::start_page(256, 0, 5, 16, 1u << 30), 256u * 38183u + 16u);
  std::set<std::uint32_t> pages;
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      pages.insert(sizes::start_page(4096, 0, warp, lane, 1u << 20));
    }
  }
  EXPECT_EQ(pages.size(), 128u);
}

/// A manager over a region that is not there.
scatter_alloc<> over(std::size_t bytes) {
  return scatter_alloc<>(region{reinterpret_cast<std::byte*>(std::size_t{1} << 40), bytes},
                         simt::device_properties{}, {});
}

TEST(scatter_alloc_geometry, nearly_all_of_a_heap_is_pages) {
  for (const std::size_t gib : {1, 16, 139}) {
    const std::size_t bytes = gib << 30;
    const auto manager = over(bytes);
    EXPECT_GE(static_cast<double>(manager.largest_block()), 0.99 * static_cast<double>(bytes));
    const auto& table = manager.parts().table();
    const auto* end = reinterpret_cast<std::byte*>((std::size_t{1} << 40) + bytes);
    EXPECT_LE(table.address(table.pages()), end);
    EXPECT_GE(table.address(table.pages()) + 8192, end) << "pages are left over";
    EXPECT_EQ(table.offset_of(table.address(table.pages() - 1)) / 4096, table.pages() - 1);
  }
}

TEST(scatter_alloc_geometry, super_blocks_share_all_pages) {
  for (const std::size_t bytes : {8192u, 70000u, 600000u, 3u << 20, 100u << 20}) {
    const auto manager = over(bytes);
    const auto& blocks = manager.parts().blocks();
    const std::uint32_t pages = manager.parts().table().pages();
    EXPECT_LE(blocks.count(), 8u);
    EXPECT_EQ(blocks.count(), pages < 128 ? 1 : pages < 512 ? pages / 64 : 8) << bytes;
    EXPECT_EQ(blocks.first_page(0), 0u);
    EXPECT_EQ(blocks.end_page(blocks.count() - 1), pages);
    for (std::uint32_t page = 0; page < pages; ++page) {
      const std::uint32_t block = blocks.block_of(page);
      ASSERT_LT(block, blocks.count());
      ASSERT_GE(page, blocks.first_page(block));
      ASSERT_LT(page, blocks.end_page(block));
    }
  }
}

TEST(scatter_alloc_geometry, heaps_that_are_too_small_or_too_large_are_refused) {
  const std::string small = message_of<region_too_small>([] { over(1000); });
  EXPECT_NE(small.find("scatter_alloc"), std::string::npos) << small;
  // 9 TiB have more pages than can be counted.
  const std::string large = message_of<invalid_argument>([] { over(std::size_t{9} << 40); });
  EXPECT_NE(large.find("8796093018112"), std::string::npos) << large;
  EXPECT_NO_THROW(over(8796093018112));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
