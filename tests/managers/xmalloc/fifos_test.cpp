// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first level of FIFOs by itself.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/fifos.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace xmalloc_parts;
constexpr xmalloc_config config;
using sizes = geometry<config>;

TEST(xmalloc_buffers, blocks_are_found_in_every_list_of_their_class) {
  rubbish memory(1_MiB);
  region_cursor cursor = memory.cursor();
  const fifos<config> all(cursor, 4096);
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    constexpr std::uint32_t cls = 1;
    EXPECT_EQ(all.list_with_blocks(cls), none);
    for (std::uint32_t list = 0; list < sizes::lists; ++list) {
      EXPECT_TRUE(all.list(cls, list).push(alone(), 7));
      EXPECT_EQ(all.list_with_blocks(cls), list);
      EXPECT_EQ(all.list_with_blocks(cls - 1), none);
      std::uint32_t unit = 0;
      EXPECT_TRUE(fifos<config>::pop(alone(), all.list(cls, list), unit));
      EXPECT_EQ(unit, 7u);
    }
  });
}

// Small blocks go through a ring a lap in four requests, so this many laps come soon.
TEST(xmalloc_buffers, go_on_beyond_two_to_the_sixteenth_lap) {
  rubbish memory(1_MiB);
  region_cursor cursor = memory.cursor();
  const fifos<config> all(cursor, 4096);
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    const auto list = all.list(1, 0);
    const auto second = all.second(1);
    const auto lap = [&](const auto& ring, std::uint64_t values, std::uint32_t first) {
      std::uint32_t unit = 0;
      for (std::uint32_t i = 0; i < values; ++i) {
        ASSERT_TRUE(ring.push(alone(), first + i));
      }
      ASSERT_FALSE(ring.push(alone(), first)) << "no more than it holds";
      for (std::uint32_t i = 0; i < values; ++i) {
        ASSERT_TRUE(fifos<config>::pop(alone(), ring, unit));
        ASSERT_EQ(unit, first + i);
      }
      ASSERT_FALSE(fifos<config>::pop(alone(), ring, unit));
    };
    const std::uint32_t laps = sanitized ? 300 : 66'000;
    for (std::uint32_t i = 0; i < laps; ++i) lap(list, all.list_blocks(), i);
    // Of more slots, so tickets get as far in fewer laps.
    const auto of_second = static_cast<std::uint32_t>(laps / all.second_blocks(1) + 1);
    for (std::uint32_t i = 0; i < of_second; ++i) lap(second, all.second_blocks(1), i);
    for (std::uint32_t cls = 0; cls < config.classes; ++cls) {
      EXPECT_EQ(all.list_with_blocks(cls), none);
    }
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
