// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes and limits, on the host: heaps of any size, whose memory nobody touches.
#include "machine_of.hpp"
#include "size_classes.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using sizes = xmalloc_parts::geometry<xmalloc_config{}>;

xmalloc<> over(std::size_t bytes) {
  return xmalloc<>(region{reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44), bytes},
                   machine_of(132), {});
}

TEST(xmalloc_geometry, a_size_has_the_smallest_class_that_holds_it) {
  EXPECT_EQ(sizes::largest_basic, 8184u);
  expect_smallest_classes(sizes::largest_basic, sizes::classes, sizes::class_of, sizes::usable);
  EXPECT_EQ(sizes::class_of(504), 0u);
  EXPECT_EQ(sizes::class_of(505), 1u);
  EXPECT_EQ(sizes::class_of(8184), 4u);
}

TEST(xmalloc_geometry, blocks_of_a_superblock_lie_in_it) {
  for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
    const std::size_t last = sizes::first_block +
                             (sizes::superblock_blocks - 1) * sizes::block_bytes(cls) +
                             sizes::usable(cls);
    const std::size_t all = sizes::superblock_units(cls) * sizes::unit;
    EXPECT_LE(last, all);
    EXPECT_LT(all - last, sizes::unit);
  }
}

TEST(xmalloc_geometry, memoryblocks_are_the_fewest_units) {
  EXPECT_EQ(sizes::units_for(1), 1u);
  EXPECT_EQ(sizes::units_for(48), 1u);
  EXPECT_EQ(sizes::units_for(49), 2u);
  EXPECT_EQ(sizes::units_for(130_GiB), 130_GiB / 64 + 1);
}

TEST(xmalloc_geometry, a_warp_of_16_bytes_asks_for_1036) {
  EXPECT_EQ(sizes::piece_pitch(16), 32u);
  EXPECT_EQ(sizes::first_piece + 32 * sizes::piece_pitch(16), 1036u);
  EXPECT_EQ(sizes::class_of(1036), 2u);
  EXPECT_EQ(sizes::piece_pitch(12), 16u);
  EXPECT_EQ(sizes::piece_pitch(13), 32u);
  EXPECT_EQ(sizes::piece_pitch(255), 272u);
}

TEST(xmalloc_geometry, words_keep_what_they_are_told) {
  using xmalloc_parts::block_kind;
  using xmalloc_parts::block_word;
  const auto piece = block_word::piece(8180);
  EXPECT_EQ(piece.kind(), block_kind::piece);
  EXPECT_EQ(piece.back(), 8180u);
  const auto basic = block_word::basic(4).with_pieces(32);
  EXPECT_EQ(basic.kind(), block_kind::basic);
  EXPECT_EQ(basic.cls(), 4u);
  EXPECT_EQ(basic.pieces(), 32u);
  EXPECT_EQ(basic.with_pieces(0).pieces(), 0u);
  EXPECT_EQ(block_word::memory().kind(), block_kind::memory);
}

TEST(xmalloc_geometry, second_level_fifos_hold_every_superblock) {
  for (const std::size_t bytes : {20_KiB, 1_MiB, 64_MiB, 1_GiB, 130_GiB}) {
    const auto manager = over(bytes);
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      EXPECT_GE(manager.parts().buffered().second_blocks(cls),
                manager.parts().memory().units() / sizes::least_units(cls))
          << bytes << " bytes, class " << cls;
    }
  }
}

TEST(xmalloc_geometry, lists_hold_little_of_a_small_heap) {
  EXPECT_EQ(over(130_GiB).parts().buffered().list_blocks(), 256u);
  EXPECT_EQ(over(1_GiB).parts().buffered().list_blocks(), 256u);
  EXPECT_EQ(over(64_MiB).parts().buffered().list_blocks(), 64u);
  EXPECT_EQ(over(64_KiB).parts().buffered().list_blocks(), 4u);
}

TEST(xmalloc_geometry, spends_little_on_what_describes_the_heap) {
  for (const std::size_t bytes : {16_MiB, 1_GiB, 130_GiB}) {
    EXPECT_GE(static_cast<double>(over(bytes).largest_block()), 0.98 * static_cast<double>(bytes));
    EXPECT_LT(over(bytes).largest_block(), bytes);
  }
}

TEST(xmalloc_geometry, the_bounds_of_a_configuration_are_possible) {
  using fewest = xmalloc_parts::geometry<xmalloc_config{.smallest_block = 64,
                                                        .classes = 1,
                                                        .superblock_blocks = 2,
                                                        .least_blocks = 1,
                                                        .lists = 1,
                                                        .list_blocks = 2,
                                                        .coalesce_below = 25}>;
  EXPECT_EQ(fewest::first_piece + fewest::piece_pitch(24) + 16, fewest::largest_basic + 4);
  using most = xmalloc_parts::geometry<xmalloc_config{.classes = 8}>;
  EXPECT_EQ(most::largest_basic, 65536u - 8);
}

TEST(xmalloc_geometry, a_heap_whose_units_have_no_32_bit_numbers_is_refused_with_the_limit) {
  EXPECT_NO_THROW(over(255_GiB));
  EXPECT_NO_THROW(over(sizes::most_units * sizes::unit)) << "the last one that has numbers";
  EXPECT_THROW(over((sizes::most_units + 1) * sizes::unit), invalid_argument);
  try {
    over(300_GiB);
    FAIL() << "300 GiB";
  } catch (const invalid_argument& refusal) {
    const std::string why = refusal.what();
    EXPECT_NE(why.find(std::to_string(300_GiB)), std::string::npos) << why;
    EXPECT_NE(why.find(std::to_string(sizes::most_units * sizes::unit)), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
