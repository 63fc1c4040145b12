// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The smallest heap, whose layout is made at the first attempt: its bitmaps must not overlap. And
// where its marks end.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = rw_malloc<>;

TEST(random_walk_one_unit, is_taken_refused_and_sound) {
  // All but the unit lies before the first place where one can.
  alignas(256) std::array<std::byte, 512> memory{};
  const manager heap(region{memory.data() + 128, 384}, simt::device_properties{}, {});
  ASSERT_EQ(heap.largest_block(), 256u) << "more than one unit";
  heap.format(0, 1);
  simt::explorer one_lane({1, 1});
  const auto outcome = one_lane.run({simt::strategy::sticky, 1}, [&] {
    for (int round = 0; round < 2; ++round) {
      void* const block = heap.malloc(256);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(heap.malloc(256), nullptr);
      inspection found;
      heap.inspect(0, 1, found);
      for (const auto violations : found.violations) EXPECT_EQ(violations, 0u);
      heap.free(block);
    }
  });
  EXPECT_TRUE(outcome.stuck.empty());
}

// What lies behind the marks is not one of them, whatever it holds.
TEST(random_walk_one_unit, a_free_one_of_the_last_word_has_no_mark_behind_that) {
  constexpr std::uint32_t units = 40;
  const rubbish memory(1024);
  region_cursor cursor = memory.cursor();
  random_walk::unit_map<32, 3, true> all(cursor, units);
  all.format(0, 1);
  auto* const behind = memory.all().base + memory.all().bytes - cursor.left(1) - 4;
  auto& crossing = *reinterpret_cast<std::uint32_t*>(behind);
  ASSERT_EQ(crossing, 0u) << "the last array of the map";
  crossing = 1;
  machine().launch({1, 1}, [&] { all.give_run(units - 1); });
  EXPECT_EQ(crossing, 1u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
