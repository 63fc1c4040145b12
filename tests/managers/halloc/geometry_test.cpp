// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/chunk_map.hpp"
#include "warpheap/managers/halloc/slab_word.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace halloc_parts;
using shape_type = geometry<halloc_config{}>;

const shape_type large_slabs{1_GiB};

TEST(halloc_geometry, slabs_are_a_64th_of_the_heap_within_bounds) {
  EXPECT_EQ(shape_type(1_MiB).slab_bytes(), 256_KiB);
  EXPECT_EQ(shape_type(16_MiB).slab_bytes(), 256_KiB);
  EXPECT_EQ(shape_type(32_MiB - 1).slab_bytes(), 256_KiB);
  EXPECT_EQ(shape_type(32_MiB).slab_bytes(), 512_KiB);
  EXPECT_EQ(shape_type(64_MiB).slab_bytes(), 1_MiB);
  EXPECT_EQ(shape_type(256_MiB).slab_bytes(), 4_MiB);
  EXPECT_EQ(shape_type(130_GiB).slab_bytes(), 4_MiB);
}

TEST(halloc_geometry, a_request_gets_the_smallest_block_that_is_aligned) {
  const auto bytes_for = [](std::size_t bytes) {
    return shape_type::block_bytes(shape_type::size_for(bytes));
  };
  std::uint32_t last = 0;
  for (std::size_t bytes = 1; bytes <= shape_type::largest_block; ++bytes) {
    const std::uint32_t size = shape_type::size_for(bytes);
    ASSERT_LT(size, shape_type::sizes);
    ASSERT_GE(bytes_for(bytes), bytes);
    ASSERT_EQ(bytes_for(bytes) % 16, 0u) << bytes;
    ASSERT_GE(size, last) << bytes;
    // No smaller block would do, but for the one of 24 bytes.
    if (size > 2) {
      ASSERT_LT(shape_type::block_bytes(size - 1), bytes);
    }
    last = size;
  }
  EXPECT_EQ(bytes_for(16), 16u);
  EXPECT_EQ(bytes_for(17), 32u);
  EXPECT_EQ(bytes_for(24), 32u);
  EXPECT_EQ(bytes_for(33), 48u);
  EXPECT_EQ(bytes_for(49), 64u);
  EXPECT_EQ(bytes_for(2049), 3072u);
  EXPECT_EQ(shape_type::size_for(3072), 15u);
}

TEST(halloc_geometry, slabs_of_4_mib_have_the_published_blocks_and_thresholds) {
  const std::uint32_t blocks[]{262144, 174760, 131072, 87380, 65536, 43690, 32768, 21845,
                               16384,  10922,  8192,   5461,  4096,  2730,  2048,  1365};
  for (std::uint32_t size = 0; size < shape_type::sizes; ++size) {
    EXPECT_EQ(large_slabs.blocks(size), blocks[size]) << size;
    EXPECT_EQ(large_slabs.chunks(size) * shape_type::chunk_bytes(shape_type::kind_of(size)),
              blocks[size] * shape_type::block_bytes(size));
  }
  const halloc_config config;
  const auto expect_levels = [&](std::uint32_t size, std::uint32_t roomy, std::uint32_t busy,
                                 std::uint32_t sparse) {
    EXPECT_EQ(large_slabs.share(size, config.roomy), roomy) << size;
    EXPECT_EQ(large_slabs.share(size, config.busy), busy) << size;
    EXPECT_EQ(large_slabs.share(size, config.sparse), sparse) << size;
  };
  expect_levels(0, 157286, 218890, 3145);
  expect_levels(6, 157286, 218890, 3145);
  expect_levels(3, 104856, 145924, 2097);
  expect_levels(8, 9830, 13680, 196);
  expect_levels(9, 6553, 9119, 131);
  expect_levels(15, 6552, 9118, 131);
}

TEST(halloc_geometry, classes_begin_behind_their_thresholds) {
  EXPECT_EQ(large_slabs.fill_of(8, 0), fill::empty);
  EXPECT_EQ(large_slabs.fill_of(8, 1), fill::sparse);
  EXPECT_EQ(large_slabs.fill_of(8, 196), fill::sparse);
  EXPECT_EQ(large_slabs.fill_of(8, 197), fill::roomy);
  EXPECT_EQ(large_slabs.fill_of(8, 9830), fill::roomy);
  EXPECT_EQ(large_slabs.fill_of(8, 9831), fill::busy);
  EXPECT_EQ(large_slabs.fill_of(8, 13679), fill::busy);
  EXPECT_EQ(large_slabs.fill_of(8, 13680), fill::full);
  EXPECT_EQ(large_slabs.fill_of(8, 16384), fill::full);
}

TEST(halloc_walk, requests_in_a_row_start_as_published) {
  const auto start = [](std::uint32_t request, std::uint32_t size) {
    return walk(request, large_slabs.blocks(size), shape_type::neighbours(size)).place();
  };
  const std::vector<std::uint32_t> of_16{start(0x0b0b0b0b, 0), start(0x0b0b0b0c, 0),
                                         start(0x0b0b0b0d, 0), start(0x0b0b0b0e, 0),
                                         start(0x0b0b0b0f, 0), start(0x0b0b0b10, 0)};
  EXPECT_EQ(of_16, (std::vector<std::uint32_t>{96603, 96644, 96645, 96646, 96647, 96688}));
  const std::vector<std::uint32_t> of_256{start(0x0b0b0b0b, 8), start(0x0b0b0b0c, 8),
                                          start(0x0b0b0b0d, 8)};
  EXPECT_EQ(of_256, (std::vector<std::uint32_t>{14713, 14724, 14735}));
  EXPECT_LT(start(0xffffffff, 15), 1365u);  // numbers wrap around
}

TEST(halloc_walk, all_places_are_visited_once) {
  for (const std::size_t heap : {std::size_t{1_MiB}, std::size_t{1_GiB}}) {
    const shape_type shape{heap};
    for (std::uint32_t size = 0; size < shape_type::sizes; ++size) {
      std::vector<bool> seen(shape.blocks(size));
      walk route(0x0b0b0b0b + size, shape.blocks(size), shape_type::neighbours(size));
      for (std::uint32_t i = 0; i < shape.blocks(size); ++i, route.advance()) {
        ASSERT_FALSE(seen[route.place()]) << "size " << size << ", probe " << i;
        seen[route.place()] = true;
      }
    }
  }
}

TEST(halloc_chunk_map, free_places_are_aligned_and_whole) {
  EXPECT_EQ(chunk_map::free_places(0, 1), 0xffffffffu);
  EXPECT_EQ(chunk_map::free_places(0, 2), 0x55555555u);
  EXPECT_EQ(chunk_map::free_places(0, 4), 0x11111111u);
  EXPECT_EQ(chunk_map::free_places(0, 8), 0x01010101u);
  for (const std::uint32_t span : {1u, 2u, 4u, 8u}) {
    EXPECT_EQ(chunk_map::free_places(~0u, span), 0u);
    // One chunk in use takes exactly the place that it belongs to.
    for (std::uint32_t chunk = 0; chunk < 32; ++chunk) {
      EXPECT_EQ(chunk_map::free_places(1u << chunk, span),
                chunk_map::free_places(0, span) & ~(1u << chunk / span * span));
    }
  }
  // Free chunks on both sides of a boundary are not a place.
  EXPECT_EQ(chunk_map::free_places(~0x6u, 2), 0u);
  EXPECT_EQ(chunk_map::free_places(~0x3cu, 4), 0u);
  EXPECT_EQ(chunk_map::free_places(~0xff0u, 8), 0u);
}

TEST(halloc_slab_word, keeps_its_parts_apart) {
  EXPECT_FALSE(slab_word::free().bound());
  EXPECT_FALSE(slab_word::free().head());
  EXPECT_EQ(slab_word::free().used(), 0u);
  for (std::uint32_t size = 0; size < shape_type::sizes; ++size) {
    const slab_word head(262144, size, true);
    EXPECT_TRUE(head.bound() && head.head());
    EXPECT_EQ(head.size(), size);
    EXPECT_EQ(head.used(), 262144u);
    const slab_word other(head.bits() & ~slab_word::head_bit);
    EXPECT_FALSE(other.head());
    EXPECT_EQ(other.size(), size);
  }
}

TEST(halloc_geometry, a_head_may_stay_until_its_last_chunk_is_in_use) {
  const geometry<halloc_config{.busy = 1000}> shape(1_GiB);
  EXPECT_FALSE(shape.is_full(8, shape.chunks(8) - 1));
  EXPECT_TRUE(shape.is_full(8, shape.chunks(8)));
}

TEST(halloc_geometry, the_bounds_of_a_configuration_are_possible) {
  using largest = geometry<halloc_config{.largest_slab = 16_MiB, .busy = 1000}>;
  EXPECT_EQ(largest(1_GiB).slab_bytes(), 16_MiB);
  using smallest = geometry<halloc_config{.largest_slab = 4_KiB, .smallest_slab = 4_KiB}>;
  EXPECT_EQ(smallest(1_GiB).slab_bytes(), 4_KiB);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
