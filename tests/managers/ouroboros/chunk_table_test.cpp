// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/ouroboros/chunk_table.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace ouroboros_parts;

TEST(ouroboros_chunk_table, a_chunk_that_fills_its_bitmap_leaves_the_next_one_alone) {
  constexpr std::uint32_t words = 16;
  constexpr std::uint32_t pages = 32 * words;
  std::vector<std::uint32_t> states(2);
  std::vector<std::uint32_t> masks(2 * words);
  const chunk_table<words> table(states.data(), masks.data());
  table.form(1, 0, 1, 0, pages);
  table.form(0, 0, 1, pages - 3, pages);
  EXPECT_EQ(table.free_bits(1, pages), pages);
  EXPECT_EQ(table.free_bits(0, pages), 3u);
  EXPECT_TRUE(table.page_is_free(1, 0));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
