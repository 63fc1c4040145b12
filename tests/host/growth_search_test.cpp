// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a request needs the least additional memory, for maps of memory written by hand.
#include <gtest/gtest.h>

#include "warpheap/host/pools/growth_search.hpp"

namespace warpheap::host {
namespace {

constexpr std::size_t page = 64;
constexpr bool free_block = false;
constexpr bool vacant = true;

TEST(growth_search, a_hole_of_the_very_size_needs_no_memory) {
  growth_search search(128, page, {});
  search.add({0x1000, 127}, free_block, true);
  search.add({0x1100, 128}, free_block, false);
  const growth_site site = search.best();
  EXPECT_EQ(site.range, (extent{0x1100, 128}));
  EXPECT_EQ(site.missing(), 0u);
}

TEST(growth_search, finds_nothing_where_no_hole_is_large_enough) {
  growth_search search(128, page, {});
  search.add({0x1000, 127}, free_block, true);
  EXPECT_FALSE(search.best().range);
  EXPECT_FALSE(growth_search(1, page, {}).best().range) << "no hole at all";
}

TEST(growth_search, holes_are_one_only_if_they_touch_within_a_region) {
  growth_search touching(128, page, {});
  touching.add({0x1000, 64}, free_block, true);
  touching.add({0x1040, 64}, vacant, false);
  const growth_site site = touching.best();
  EXPECT_EQ(site.range, (extent{0x1000, 128}));
  EXPECT_EQ(site.vacant, 64u);

  growth_search apart(128, page, {});
  apart.add({0x1000, 64}, free_block, true);
  apart.add({0x1080, 64}, free_block, false);
  EXPECT_FALSE(apart.best().range);

  growth_search of_two_regions(128, page, {});
  of_two_regions.add({0x1000, 64}, free_block, true);
  of_two_regions.add({0x1040, 64}, free_block, true);
  EXPECT_FALSE(of_two_regions.best().range);
}

TEST(growth_search, the_end_of_a_hole_that_has_more_memory_is_taken) {
  growth_search upper(128, page, {});
  upper.add({0x1000, 64}, free_block, true);
  upper.add({0x1040, 128}, vacant, false);
  upper.add({0x10c0, 128}, free_block, false);
  EXPECT_EQ(upper.best().range, (extent{0x10c0, 128}));

  growth_search lower(128, page, {});
  lower.add({0x1000, 128}, free_block, true);
  lower.add({0x1080, 128}, vacant, false);
  lower.add({0x1100, 64}, free_block, false);
  EXPECT_EQ(lower.best().range, (extent{0x1000, 128}));
  EXPECT_EQ(lower.best().missing(), 0u);
}

TEST(growth_search, a_page_that_is_touched_counts_whole) {
  growth_search search(100, page, {});
  search.add({0x1000, 256}, vacant, true);
  const growth_site site = search.best();
  EXPECT_EQ(site.range, (extent{0x109c, 100}));
  EXPECT_EQ(site.vacant, 128u);
}

TEST(growth_search, the_first_of_equal_sites_stays) {
  growth_search search(64, page, {});
  search.add({0x1000, 128}, free_block, true);
  search.add({0x2000, 128}, free_block, false);
  EXPECT_EQ(search.best().range, (extent{0x1040, 64}));
}

TEST(growth_search, a_region_that_can_grow_takes_what_fits_nowhere_behind_its_last_block) {
  const extent growing{0x1000, 0x1000};
  growth_search full(100, page, growing);
  const growth_site behind = full.best();
  EXPECT_EQ(behind.range, (extent{0x2000, 100}));
  EXPECT_EQ(behind.beyond, 128u);

  growth_search with_a_free_block(100, page, growing);
  with_a_free_block.add({0x1fc0, 64}, free_block, false);
  const growth_site from_the_block = with_a_free_block.best();
  EXPECT_EQ(from_the_block.range, (extent{0x1fc0, 100}));
  EXPECT_EQ(from_the_block.beyond, 64u);

  growth_search with_a_vacant_end(100, page, growing);
  with_a_vacant_end.add({0x1f80, 64}, vacant, false);
  with_a_vacant_end.add({0x1fc0, 64}, vacant, false);
  EXPECT_EQ(with_a_vacant_end.best().missing(), 128u);
  EXPECT_EQ(with_a_vacant_end.best().beyond, 0u) << "it need not grow";
}

TEST(growth_search, a_hole_elsewhere_keeps_a_region_from_growing) {
  growth_search search(100, page, {0x1000, 0x1000});
  search.add({0x1800, 100}, free_block, false);
  const growth_site site = search.best();
  EXPECT_EQ(site.range, (extent{0x1800, 100}));
  EXPECT_EQ(site.missing(), 0u);
}

TEST(pages_within, are_those_that_a_range_touches_and_the_part_has) {
  EXPECT_EQ(pages_within({0x1000, 256}, {0x1050, 1}, page), (extent{0x1040, 64}));
  EXPECT_EQ(pages_within({0x1000, 256}, {0x103f, 2}, page), (extent{0x1000, 128}));
  EXPECT_EQ(pages_within({0x1000, 64}, {0x0800, 0x1000}, page), (extent{0x1000, 64}));
  EXPECT_FALSE(pages_within({0x1000, 64}, {0x1040, 64}, page));
  EXPECT_FALSE(pages_within({0x1000, 64}, {0x0fc0, 64}, page));
}

}  // namespace
}  // namespace warpheap::host
