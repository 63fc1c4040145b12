// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes and numbers, without a heap.
#include "machine_of.hpp"
#include "size_classes.hpp"

#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using geometry = gallatin_geometry<gallatin_config{}>;

constexpr std::uint32_t h200 = 132;  // multiprocessors

geometry of_heap(std::size_t bytes) {
  geometry shape(bytes, h200);
  shape.set_segments(static_cast<std::uint32_t>(bytes >> shape.segment_shift()));
  return shape;
}

/// The manager of a region that nobody touches: constructors only compute.
gallatin<> over(std::size_t bytes) {
  return gallatin<>(region{reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44), bytes},
                    machine_of(h200), {});
}

TEST(gallatin_geometry, has_the_papers_trees) {
  EXPECT_EQ(geometry::trees, 9u);
  const geometry shape = of_heap(16_GiB);
  EXPECT_EQ(shape.segment_bytes(), 16_MiB);
  EXPECT_EQ(shape.slices(), 4096u);
  for (std::uint32_t tree = 0; tree < geometry::trees; ++tree) {
    EXPECT_EQ(geometry::unit_bytes(tree), 16u << tree);
    EXPECT_EQ(std::size_t{1} << shape.block_shift(tree), 64_KiB << tree);
    EXPECT_EQ(1u << geometry::blocks_shift_of(tree), 256u >> tree);
    EXPECT_EQ(shape.capacity(tree), 4096u);
  }
}

TEST(gallatin_geometry, gives_each_size_the_smallest_unit_that_holds_it) {
  const geometry shape = of_heap(16_GiB);
  expect_smallest_classes(geometry::largest_unit, geometry::units, geometry::unit_for,
                          geometry::unit_bytes);
  for (std::uint32_t unit = 0; unit < geometry::units; ++unit) {
    ASSERT_EQ(geometry::unit_bytes(unit),
              geometry::slices_of(unit) * geometry::unit_bytes(geometry::tree_of(unit)));
    ASSERT_EQ(shape.capacity(unit), 4096 / geometry::slices_of(unit));
  }
  EXPECT_EQ(geometry::unit_for(4096), 8u);
  EXPECT_EQ(geometry::unit_for(4097), 9u);
  EXPECT_EQ(geometry::unit_for(8192), 9u);
  EXPECT_EQ(geometry::unit_for(32_KiB), 15u);
}

TEST(gallatin_geometry, gives_larger_sizes_the_smallest_whole_block_that_holds_them) {
  const geometry shape = of_heap(16_GiB);
  EXPECT_EQ(shape.tree_for_block(32_KiB + 1), 0u);
  EXPECT_EQ(shape.tree_for_block(64_KiB), 0u);
  EXPECT_EQ(shape.tree_for_block(64_KiB + 1), 1u);
  EXPECT_EQ(shape.tree_for_block(8_MiB), 7u);
  EXPECT_EQ(shape.tree_for_block(8_MiB + 1), 8u);
  EXPECT_EQ(shape.tree_for_block(16_MiB), 8u);
}

TEST(gallatin_geometry, has_a_slot_for_each_multiprocessor_as_far_as_the_heap_allows) {
  const geometry large = of_heap(16_GiB);
  const geometry small = of_heap(2_GiB);
  EXPECT_EQ(large.slots(0), h200);
  EXPECT_EQ(large.slots(6), h200);
  EXPECT_EQ(large.slots(8), 64u);
  EXPECT_EQ(small.slots(0), h200);
  EXPECT_EQ(small.slots(8), 8u);
  for (std::uint32_t unit = 0; unit < geometry::units; ++unit) {
    const std::size_t pinned = std::size_t{small.slots(unit)}
                               << small.block_shift(geometry::tree_of(unit));
    EXPECT_LE(pinned, 2_GiB / 16) << "unit " << unit;
    EXPECT_GE(of_heap(300_KiB).slots(unit), 1u);
  }
}

TEST(gallatin_geometry, makes_segments_smaller_in_small_heaps) {
  EXPECT_EQ(of_heap(512_MiB).segment_bytes(), 16_MiB);
  EXPECT_EQ(of_heap(511_MiB).segment_bytes(), 8_MiB);
  EXPECT_EQ(of_heap(64_MiB).segment_bytes(), 2_MiB);
  EXPECT_EQ(of_heap(16_MiB).segment_bytes(), 512_KiB);
  EXPECT_EQ(of_heap(1_MiB).segment_bytes(), 256_KiB) << "64 of the largest slices at least";
  // One that is configured to be small stays as it is.
  constexpr gallatin_config tiny{.segment_bytes = 1_KiB, .smallest_slice = 16, .largest_slice = 64};
  EXPECT_EQ(gallatin_geometry<tiny>(4_KiB, 2).segment_bytes(), 1_KiB);
}

TEST(gallatin_geometry, numbers_the_counters_of_blocks_without_a_clash) {
  for (std::uint32_t tree = 0; tree < geometry::trees; ++tree) {
    const std::uint32_t blocks = 3u << geometry::blocks_shift_of(tree);
    std::set<std::uint32_t> counters;
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const std::uint32_t counter = geometry::counter_of(tree, block);
      EXPECT_EQ(counter >> geometry::blocks_shift, block >> geometry::blocks_shift_of(tree))
          << "a counter lies with its block's segment";
      counters.insert(counter);
    }
    EXPECT_EQ(counters.size(), blocks);
  }
}

TEST(gallatin_geometry, spends_little_on_what_describes_the_heap) {
  for (const std::size_t bytes :
       {16_MiB, 17_MiB, 100_MiB, 512_MiB, 2_GiB, 16_GiB, 100_GiB, 1024_GiB}) {
    const gallatin<> manager = over(bytes);
    const std::size_t usable = std::size_t{manager.shape().segments()}
                               << manager.shape().segment_shift();
    EXPECT_GE(static_cast<double>(usable), 0.93 * static_cast<double>(bytes)) << bytes;
    if (bytes >= 2_GiB) {
      EXPECT_GE(static_cast<double>(usable), 0.99 * static_cast<double>(bytes)) << bytes;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(manager.segments());
    EXPECT_EQ(begin % 4096, 0u);
    EXPECT_LE(begin + usable, (std::uintptr_t{1} << 44) + bytes);
  }
}

TEST(gallatin_geometry, keeps_numbers_of_blocks_in_32_bits_in_any_heap) {
  // 200 TiB, far beyond the 31 bits that a number of a block of tree 0 has.
  const gallatin<> manager = over(200 * 1024_GiB);
  EXPECT_EQ(manager.shape().segments(), 1u << 23);
  EXPECT_LT((std::uint64_t{manager.shape().segments()} << geometry::blocks_shift) - 1,
            gallatin_slot::filling);
}

TEST(gallatin_geometry, refuses_a_heap_that_has_no_room_for_a_segment) {
  EXPECT_THROW(over(100'000), region_too_small);
}

TEST(gallatin_geometry, the_bounds_of_a_configuration_are_possible) {
  using one_tree = gallatin_geometry<gallatin_config{
      .segment_bytes = 8 * 64, .smallest_slice = 64, .largest_slice = 64}>;
  EXPECT_EQ(one_tree::trees, 1u);
  using most_slices = gallatin_geometry<gallatin_config{
      .segment_bytes = std::size_t{64} << 16, .smallest_slice = 16, .largest_slice = 64}>;
  EXPECT_EQ(most_slices::trees, 3u);
  using largest_segments = gallatin_geometry<gallatin_config{
      .segment_bytes = std::size_t{1} << 31, .smallest_slice = 4096, .largest_slice = 65536}>;
  EXPECT_EQ(largest_segments::trees, 5u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
