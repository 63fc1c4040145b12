// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of slabs and of heads, each by itself.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/halloc/full_search.hpp"
#include "warpheap/managers/halloc/heads.hpp"
#include "warpheap/managers/halloc/inspection.hpp"
#include "warpheap/managers/halloc/slabs.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace halloc_parts;
constexpr halloc_config config;

// Nor does it matter in which order they come, as they all write what they want there to be.
TEST(halloc_slabs, lanes_that_format_do_not_meet) {
  constexpr std::uint32_t lanes = 32;
  geometry<config> shape(1_MiB);
  shape.set_slabs(16);  // words of them that fill a line
  std::vector<std::vector<std::byte>> contents;
  for (const bool backwards : {false, true}) {
    const rubbish memory(256_KiB);
    region_cursor cursor = memory.cursor();
    const slabs<config> all(shape, cursor);
    for (std::uint32_t i = 0; i < lanes; ++i) all.format(backwards ? lanes - 1 - i : i, lanes);
    contents.push_back(memory.contents());
    EXPECT_TRUE(memory.is_untouched_behind(cursor));
  }
  EXPECT_TRUE(contents[0] == contents[1]);
}

TEST(halloc_slabs, heads_are_formatted_and_nothing_behind_them) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const heads<config> all({}, cursor);
  all.format(0, 1);
  EXPECT_EQ(all.head(geometry<config>::sizes - 1), heads<config>::none);
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

TEST(halloc_inspection, a_free_slab_that_no_request_would_find_is_wrong) {
  geometry<config> shape(1_MiB);
  shape.set_slabs(4);
  rubbish memory(256_KiB);
  region_cursor cursor = memory.cursor();
  const slabs<config> table(shape, cursor);
  const heads<config> all(table, cursor);
  table.format(0, 1);
  all.format(0, 1);
  const auto broken = [&] {
    inspection found;
    machine().launch({1, 1}, [&] { inspector<config>(all, found).run(0, 1); });
    return found.violations[0];
  };
  EXPECT_EQ(broken(), 0u);
  machine().launch({1, 1}, [&] { EXPECT_TRUE(table.set(slabs<config>::free_set).remove(2)); });
  EXPECT_EQ(broken(), 1u);
}

// Each in another word of the slab's map.
TEST(halloc_full_search, one_round_serves_as_many_lanes_as_there_are_places) {
  constexpr std::uint32_t lanes = 4;
  geometry<config> shape(1_MiB);
  shape.set_slabs(1);
  const rubbish memory(1_MiB + 256_KiB);
  region_cursor cursor = memory.cursor();
  const places<config> all(shape, cursor);
  std::vector<void*> blocks(lanes);
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    while (full_search<config>(all, 0).run() != nullptr) {
    }
    for (std::uint32_t i = 0; i < lanes; ++i) {
      const std::uint32_t chunk = i * chunk_map::word_chunks;
      all.table().map(0).put_back(chunk, all.table().map(0).clear_length(chunk));
      all.table().subtract(0, geometry<config>::span(0));
    }
  });
  machine().launch({1, lanes},
                   [&] { blocks[simt::thread_rank()] = full_search<config>(all, 0).run(); });
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
}

// Else each request that follows would search all slabs once more.
TEST(halloc_full_search, one_that_takes_the_last_place_says_that_none_is_left) {
  geometry<config> shape(1_MiB);
  shape.set_slabs(1);
  const rubbish memory(1_MiB + 256_KiB);
  region_cursor cursor = memory.cursor();
  const places<config> all(shape, cursor);
  const std::uint32_t last = shape.chunks(0) - 1;  // where a round ends
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    const shortages known = all.table().known();
    while (!known.is_out(0, 1)) full_search<config>(all, 0).run();
    const chunk_map map = all.table().map(0);
    map.put_back(last, map.clear_length(last));
    all.table().subtract(0, 1);
    EXPECT_FALSE(known.is_out(0, 1));
    EXPECT_NE(full_search<config>(all, 0).run(), nullptr);
    EXPECT_TRUE(known.is_out(0, 1));
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
