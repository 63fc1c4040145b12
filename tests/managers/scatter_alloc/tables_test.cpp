// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page usage table and the Super Blocks, each by itself.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/scatter_alloc/page_table.hpp"
#include "warpheap/managers/scatter_alloc/super_blocks.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace scatter_parts;

constexpr scatter_config config;
// So many that pages follow their masks without a gap.
constexpr std::uint32_t pages = 64;

TEST(scatter_page_table, format_does_not_touch_pages) {
  rubbish memory(512_KiB);
  region_cursor cursor = memory.cursor();
  const page_table<config> table(cursor, pages);
  table.format(0, 1);
  EXPECT_TRUE(memory.is_untouched_from(table.address(0)));
}

TEST(scatter_page_table, a_page_whose_chunks_are_all_held_has_no_room) {
  using table = page_table<config>;
  for (const std::uint32_t units : {1u, 7u, 16u, 128u}) {
    const std::uint32_t all = table::sizes::capacity(units);
    EXPECT_TRUE(table::has_room(page_state::chunks(units, all - 1), units));
    EXPECT_FALSE(table::has_room(page_state::chunks(units, all), units));
  }
}

TEST(scatter_super_blocks, format_touches_nothing_behind_them) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const super_blocks<config> blocks(cursor, pages);
  blocks.format(0, 1);
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

TEST(scatter_super_blocks, what_is_freed_opens_its_own_region_and_no_other) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const super_blocks<config> blocks(cursor, pages);
  blocks.format(0, 1);
  ASSERT_EQ(blocks.regions(), 4u);
  for (const std::uint32_t freed : {1u, 3u}) {
    for (std::uint32_t region = 0; region < 4; ++region) blocks.reject(region, 0);
    machine().launch({1, 1}, [&] {
      blocks.take(freed * config.region_pages, config.region_pages);
      blocks.give(freed * config.region_pages, config.region_pages);
    });
    for (std::uint32_t region = 0; region < 4; ++region) {
      EXPECT_EQ(blocks.level(region), region == freed ? 0u : 1u) << region;
    }
  }
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
