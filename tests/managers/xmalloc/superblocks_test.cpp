// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the owner of a Superblock takes of its blocks.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/superblocks.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace xmalloc_parts;
// As many blocks as a map has bits.
constexpr xmalloc_config config{.superblock_blocks = 32};
using all_of_them = superblocks<config>;

class xmalloc_superblocks : public ::testing::Test {
 protected:
  xmalloc_superblocks() {
    machine().launch({1, 1}, [this] {
      memory_.format(0, 1);
      blocks_.format(0);
    });
  }

  rubbish bytes_{1_MiB};
  region_cursor cursor_ = bytes_.cursor();
  memoryblocks<config> memory_{cursor_, 8192};
  all_of_them blocks_{memory_, cursor_};
};

TEST_F(xmalloc_superblocks, a_lane_that_wants_all_blocks_gets_them_and_is_not_the_owner) {
  machine().launch({1, 1}, [this] {
    all_of_them::taken got{};
    ASSERT_NE(blocks_.carve(0, 32, 32, got), none);
    EXPECT_EQ(got.blocks, 0xffffffffu);
    EXPECT_FALSE(got.owns);
  });
}

TEST_F(xmalloc_superblocks, each_block_can_be_the_last_that_is_taken) {
  machine().launch({1, 1}, [this] {
    all_of_them::taken got{};
    const std::uint32_t superblock = blocks_.carve(0, 32, 32, got);
    ASSERT_NE(superblock, none);
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t one = 1u << i;
      ASSERT_TRUE(blocks_.give_back(superblock, one)) << i;
      got = blocks_.take(superblock, 1);
      EXPECT_EQ(got.blocks, one) << i;
      EXPECT_FALSE(got.owns) << i;
    }
  });
}

TEST_F(xmalloc_superblocks, blocks_are_taken_from_the_first_on) {
  machine().launch({1, 1}, [this] {
    all_of_them::taken got{};
    const std::uint32_t superblock = blocks_.carve(0, 3, 3, got);
    ASSERT_NE(superblock, none);
    EXPECT_EQ(got.blocks, 0x7u);
    EXPECT_TRUE(got.owns);
    got = blocks_.take(superblock, 28);
    EXPECT_EQ(got.blocks, 0x7ffffff8u);
    EXPECT_TRUE(got.owns);
    got = blocks_.take(superblock, 28);
    EXPECT_EQ(got.blocks, 0x80000000u);
    EXPECT_FALSE(got.owns);
  });
}

TEST_F(xmalloc_superblocks, one_of_fewer_blocks_takes_a_gap_that_has_no_room_for_a_whole_one) {
  machine().launch({1, 1}, [this] {
    ASSERT_NE(memory_.take(8192 - 104), none);
    all_of_them::taken got{};
    const std::uint32_t superblock = blocks_.carve(0, 8, 2, got);
    ASSERT_NE(superblock, none);
    EXPECT_EQ(blocks_.blocks(superblock), 12u) << "of 8 units each, and one for the headers";
    EXPECT_EQ(blocks_.in_use(superblock), 2u);
    EXPECT_EQ(got.blocks, 0xffu);
    EXPECT_TRUE(got.owns);
    EXPECT_EQ(blocks_.retire(superblock), 0u) << "blocks are out";
    EXPECT_FALSE(blocks_.give_back(superblock, got.blocks));
    EXPECT_EQ(blocks_.retire(superblock), 97u);
    EXPECT_EQ(memory_.take(104), 0u) << "all of the gap is free again";
  });
}

TEST_F(xmalloc_superblocks, the_one_of_fewest_blocks_is_the_smallest) {
  machine().launch({1, 1}, [this] {
    ASSERT_NE(memory_.take(8192 - 33), none);
    all_of_them::taken got{};
    const std::uint32_t superblock = blocks_.carve(0, 32, 32, got);
    ASSERT_NE(superblock, none);
    EXPECT_EQ(got.blocks, 0xfu);
    EXPECT_EQ(blocks_.in_use(superblock), 4u);
    EXPECT_FALSE(got.owns);
    EXPECT_TRUE(blocks_.give_back(superblock, got.blocks));
    EXPECT_EQ(blocks_.retire(superblock), 33u);
    ASSERT_NE(memory_.take(1), none);
    EXPECT_EQ(blocks_.carve(0, 32, 32, got), none) << "32 units are left";
  });
}

// Blocks of 32 and of 33 units are in one ring.
TEST_F(xmalloc_superblocks, a_gap_is_found_behind_one_of_nearly_the_same_size_that_is_too_small) {
  machine().launch({1, 1}, [this] {
    const std::uint32_t enough = memory_.take(33);
    ASSERT_NE(memory_.take(1), none);
    const std::uint32_t less = memory_.take(32);
    ASSERT_NE(memory_.take(8192 - 33 - 1 - 32), none);
    memory_.give(enough);
    memory_.give(less);
    all_of_them::taken got{};
    EXPECT_EQ(blocks_.carve(0, 32, 32, got), enough);
  });
}

TEST_F(xmalloc_superblocks, a_whole_one_is_made_wherever_it_fits) {
  machine().launch({1, 1}, [this] {
    // From the end: 257 units are a whole one, and the front is larger.
    const std::uint32_t last = memory_.take(256);
    ASSERT_NE(memory_.take(100), none);
    memory_.give(last);
    all_of_them::taken got{};
    const std::uint32_t superblock = blocks_.carve(0, 1, 1, got);
    EXPECT_EQ(blocks_.blocks(superblock), 32u);
    EXPECT_LT(superblock, last);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
