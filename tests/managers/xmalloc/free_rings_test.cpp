// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Free Memoryblocks by size: what a search finds, and at how many blocks it looks.
#include "warpheap/managers/xmalloc/free_rings.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using xmalloc_parts::none;

class xmalloc_free_rings : public ::testing::Test {
 protected:
  using sizes = xmalloc_parts::geometry<xmalloc_parts::xmalloc_config{}>;
  static constexpr std::uint32_t most_blocks = 2000;

  xmalloc_free_rings() { rings().format(); }

  xmalloc_parts::free_rings<sizes> rings() { return {heads_, memory_.data()}; }
  /// Adds a free block, which gets the next number.
  std::uint32_t add(std::uint32_t units) {
    const auto unit = static_cast<std::uint32_t>(units_.size());
    units_[unit] = units;
    rings().link(unit, units);
    return unit;
  }
  void remove(std::uint32_t unit) {
    rings().unlink(unit, units_[unit]);
    units_[unit] = 0;
  }
  std::uint32_t find(std::uint32_t units) {
    looks_ = 0;
    return rings().find(units, [&](std::uint32_t unit) {
      ++looks_;
      return units_[unit];
    });
  }
  int looks() const { return looks_; }

 private:
  xmalloc_parts::free_ring_heads heads_;
  std::vector<std::byte> memory_ = std::vector<std::byte>((most_blocks + 1) * sizes::unit);
  std::map<std::uint32_t, std::uint32_t> units_;
  int looks_ = 0;
};

TEST_F(xmalloc_free_rings, have_nothing_at_first) {
  EXPECT_EQ(find(1), none);
  EXPECT_EQ(find(~0u), none);
}

TEST_F(xmalloc_free_rings, a_block_is_found_for_its_size_and_less) {
  const std::uint32_t block = add(129);
  EXPECT_EQ(find(129), block);
  EXPECT_EQ(find(128), block);
  EXPECT_EQ(find(1), block);
  EXPECT_EQ(find(130), none);
  EXPECT_EQ(find(256), none);
  remove(block);
  EXPECT_EQ(find(1), none);
}

TEST_F(xmalloc_free_rings,
       many_blocks_that_are_too_small_are_not_looked_at_if_a_larger_one_is_free) {
  for (int i = 0; i < 1000; ++i) add(128);
  const std::uint32_t large = add(1000);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(find(129), large);
    EXPECT_LE(looks(), 8);
  }
}

TEST_F(xmalloc_free_rings, one_that_is_large_enough_among_many_is_found_wherever_it_is) {
  for (int i = 0; i < 500; ++i) add(128);
  const std::uint32_t enough = add(129);
  for (int i = 0; i < 500; ++i) add(128);
  EXPECT_EQ(find(129), enough);
  EXPECT_EQ(find(129), enough);
  EXPECT_EQ(looks(), 1) << "the next search begins there";
  remove(enough);
  EXPECT_EQ(find(129), none);
}

// Otherwise, the blocks at which the first search looked would hide those behind them from all
// others, while a larger one is cut up.
TEST_F(xmalloc_free_rings, a_search_goes_on_behind_the_blocks_that_were_too_small) {
  const std::uint32_t enough = add(129);
  for (int i = 0; i < 20; ++i) add(128);
  const std::uint32_t large = add(1000);
  EXPECT_EQ(find(129), large);
  EXPECT_EQ(find(129), large);
  EXPECT_EQ(find(129), enough);
}

TEST_F(xmalloc_free_rings, each_block_is_in_its_ring_until_it_is_removed) {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t units = 1; units <= 64; ++units) blocks.push_back(add(units));
  for (const std::uint32_t block : blocks) {
    const std::uint32_t units = block + 1;
    const std::uint32_t found = find(units);
    ASSERT_NE(found, none);
    EXPECT_GE(found + 1, units);
    remove(block);
  }
  EXPECT_EQ(find(1), none);
}

TEST_F(xmalloc_free_rings, a_block_that_shrinks_or_grows_moves_to_the_ring_of_its_size) {
  const std::uint32_t block = add(300);
  rings().resize(block, 300, 40);
  const int second_of_32 = 4 * 5 + 1;
  for (int ring = 0; ring < xmalloc_parts::free_ring_heads::rings; ++ring) {
    EXPECT_EQ(rings().is_occupied(ring), ring == second_of_32);
    EXPECT_EQ(rings().first(ring), ring == second_of_32 ? block : none);
  }
  rings().resize(block, 40, 47);
  EXPECT_EQ(rings().first(second_of_32), block);
  rings().resize(block, 47, 48);
  EXPECT_EQ(rings().first(second_of_32 + 1), block);
  EXPECT_FALSE(rings().is_occupied(second_of_32));
  rings().resize(block, 48, ~1u);
  EXPECT_EQ(rings().first(127), block);
}

TEST_F(xmalloc_free_rings,
       blocks_of_a_smaller_quarter_are_not_looked_at_where_nothing_else_is_free) {
  for (int i = 0; i < 1000; ++i) add(159);
  EXPECT_EQ(find(160), none);
  EXPECT_EQ(looks(), 0);
}

TEST_F(xmalloc_free_rings, a_large_block_is_one_of_the_last_ring) {
  EXPECT_EQ(rings().large(), none);
  const std::uint32_t small = add(3);
  EXPECT_EQ(rings().large(), small);
  const std::uint32_t large = add(70000);
  add(9);
  EXPECT_EQ(rings().large(), large);
}

TEST_F(xmalloc_free_rings, tell_from_which_size_on_there_is_none) {
  EXPECT_EQ(rings().none_from(), 1u);
  for (const std::uint32_t units :
       {1u, 2u, 3u, 4u, 7u, 8u, 9u, 100u, 159u, 160u, 70000u, ~0u - 2}) {
    const std::uint32_t block = add(units);
    const std::uint32_t from = rings().none_from();
    EXPECT_GT(from, units);
    EXPECT_EQ(from == none || rings().ring_of(from) > rings().ring_of(units), true) << units;
    EXPECT_EQ(rings().ring_of(from - 1), rings().ring_of(units)) << units;
    remove(block);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
