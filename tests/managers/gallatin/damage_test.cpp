// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant, and words that it could miss.
#include "damage.hpp"
#include "machine.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = gallatin<gallatin_config{.segment_bytes = 512,
                                       .smallest_slice = 16,
                                       .largest_slice = 64,
                                       .least_segments = 1,
                                       .buffer_share = 1}>;

TEST(gallatin_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(16 * 1024, {16, 64, 30, 200},
                               {{1, {14, 628}},
                                {2, {19, 1250}},
                                {3, {21, 1031}},
                                {4, {8, 630}},
                                {5, {117, 4658}},
                                {6, {55, 2596}},
                                {7, {12, 15}},
                                {8, {5, 255}}});
}

/// The tables of 128 segments, which fill their cache lines.
class gallatin_tables : public ::testing::Test {
 protected:
  using geometry = gallatin_geometry<gallatin_config{}>;

  static geometry shape() {
    geometry all(64_MiB, 2);
    all.set_segments(128);
    return all;
  }

  rubbish memory{1_MiB};
  region_cursor cursor = memory.cursor();
  gallatin_blocks<gallatin_config{}> blocks{shape(), cursor};
};

// The words behind a table are another part's.
TEST_F(gallatin_tables, format_writes_only_what_is_its_own) {
  blocks.format(0, 1);
  blocks.segments().free_segments().check(
      0, 1, [](std::uint64_t word) { ADD_FAILURE() << "word " << word; });
  for (std::uint32_t tree = 0; tree < geometry::trees; ++tree) {
    blocks.free_blocks(tree).check(
        0, 1, [&](std::uint64_t word) { ADD_FAILURE() << "tree " << tree << ", word " << word; });
  }
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

// What stands behind the table of segments reads like one of tree 0.
TEST_F(gallatin_tables, a_slot_that_names_the_block_behind_the_last_does_not_count_as_in_use) {
  const gallatin_buffers<gallatin_config{}> buffers(blocks, cursor);
  const auto inspected = [&] {
    inspection found;
    machine().launch({1, 1}, [&] { gallatin_inspector(buffers, found).run(0, 1); });
    return found;
  };
  machine().launch({1, 1}, [&] {
    blocks.format(0, 1);
    buffers.format(0, 1);
    buffers.refill(0, 0, 7);
  });
  EXPECT_EQ(inspected().violations[5], 0u);
  EXPECT_EQ(inspected().blocks_in_use, 7u);
  gallatin_slot named = buffers.look(0, 0);
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.all().base);
  std::uint64_t* const slot = std::find(words, words + 1_MiB / 8, named.word());
  named.block = 128u << geometry::blocks_shift_of(0);
  *slot = named.word();
  ASSERT_EQ(buffers.look(0, 0).block, named.block);
  ASSERT_EQ(blocks.segments().kind(128), 0u);
  EXPECT_EQ(inspected().violations[5], 1u);
  EXPECT_EQ(inspected().blocks_in_use, 0u) << "no slot names the block that it had";
}

class gallatin_inspection : public ::testing::Test {
 protected:
  using manager = gallatin<>;
  using geometry = gallatin_geometry<gallatin_config{}>;
  static constexpr std::uint32_t last_tree = geometry::trees - 1;

  gallatin_inspection() {
    machine().launch({1, 1}, [this] { all_.format(0, 1); });
    EXPECT_EQ(broken(5) + broken(6), 0u);
  }

  std::uint64_t broken(int invariant) {
    inspection found;
    machine().launch({1, 1}, [&, to = &found] { all_.inspect(0, 1, *to); });
    return found.violations[invariant - 1];
  }
  static constexpr std::uint32_t multiprocessors = 132;

  rubbish memory_{16_MiB};
  manager all_{memory_.all(), machine_of(multiprocessors), {}};
};

TEST_F(gallatin_inspection, a_block_of_units_that_there_are_not_is_found) {
  machine().launch({1, 1}, [this] {
    const auto& blocks = all_.buffers().blocks();
    const auto got = blocks.acquire(last_tree, 1, 1);
    ASSERT_EQ(got.count(), 1);
    blocks.open(last_tree, got.nth(0), geometry::units, 1, false);
  });
  EXPECT_EQ(broken(5), 1u);
}

TEST_F(gallatin_inspection, a_block_in_a_slot_behind_those_in_use_is_found) {
  const std::uint32_t behind = all_.shape().slots(last_tree);
  ASSERT_LT(behind, multiprocessors);
  machine().launch({1, 1}, [&] { all_.buffers().refill(behind - 1, last_tree, 1); });
  EXPECT_EQ(broken(6), 0u);
  EXPECT_EQ(broken(5), 0u);
  machine().launch({1, 1}, [&] { all_.buffers().refill(behind, last_tree, 1); });
  EXPECT_EQ(broken(6), 1u);
  EXPECT_EQ(broken(5), 1u) << "the block is in no slot that counts";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
