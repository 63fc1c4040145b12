// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chunks of an empty heap, and sizes in granules, without a heap.
#include "machine_of.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using reg_eff_parts::presplit;

constexpr std::size_t granule = 16;
constexpr std::uint32_t h200 = 132;  // multiprocessors

constexpr std::uint32_t granules(std::size_t bytes) {
  return static_cast<std::uint32_t>(bytes / granule);
}
constexpr presplit of_heap(std::size_t bytes, std::size_t smallest, std::uint32_t trees = 1) {
  return {granules(bytes), granules(smallest), trees};
}

TEST(reg_eff_presplit, has_as_many_levels_as_fit_and_a_rest) {
  struct expectation {
    std::size_t heap, smallest;
    std::uint32_t trees, levels;
    std::size_t root, rest;
  };
  for (const auto& [heap, smallest, trees, levels, root, rest] : {
           expectation{1_MiB, 16, 1, 13, 64_KiB, 192_KiB},
           expectation{64_MiB, 16, 1, 18, 2_MiB, 28_MiB},
           expectation{1_GiB, 16, 1, 22, 32_MiB, 320_MiB},
           expectation{16_MiB, 128, 1, 14, 1_MiB, 2_MiB},
           expectation{1_GiB, 128, 1, 19, 32_MiB, 416_MiB},
           expectation{16_GiB, 128, 1, 23, 512_MiB, 4608_MiB},
           expectation{1_GiB, 16, h200, 15, 256_KiB, 529_MiB},
           expectation{1_GiB, 128, h200, 13, 512_KiB, 166_MiB},
       }) {
    SCOPED_TRACE(std::to_string(heap) + " bytes, " + std::to_string(trees) + " trees");
    const presplit chunks = of_heap(heap, smallest, trees);
    EXPECT_EQ(chunks.levels(), levels);
    EXPECT_EQ(chunks.root() * granule, root);
    EXPECT_EQ((chunks.end() - chunks.tree_start(trees)) * granule, rest);
    EXPECT_EQ(chunks.chunks(), ((std::uint64_t{1} << levels) - 1) * trees + 1);
  }
}

TEST(reg_eff_presplit, lists_the_nodes_of_every_tree_in_the_order_of_a_binary_heap) {
  for (const std::uint32_t trees : {1u, 3u}) {
    const presplit chunks(20000 * trees, 5, trees);
    ASSERT_GT(chunks.levels(), 4u);
    std::uint32_t at = 0;
    std::uint64_t found = 0;
    for (std::uint32_t tree = 0; tree < trees; ++tree) {
      EXPECT_EQ(at, chunks.tree_start(tree));
      for (std::uint32_t level = 0; level < chunks.levels(); ++level) {
        for (std::uint32_t node = 0; node < 1u << level; ++node) {
          const std::uint32_t size = chunks.root() >> level;
          ASSERT_EQ(chunks.next_start(at), at);
          ASSERT_EQ(chunks.next_start(std::uint64_t{at} + 1), at + size);
          ASSERT_EQ(chunks.next_start(std::uint64_t{at} + size - 1), size == 1 ? at : at + size);
          at += size;
          ++found;
        }
      }
    }
    EXPECT_EQ(at, chunks.tree_start(trees));
    EXPECT_LT(at, chunks.end());
    EXPECT_EQ(chunks.next_start(std::uint64_t{at} + 1), chunks.end());
    EXPECT_EQ(chunks.next_start(std::uint64_t{chunks.end()} + 1000), chunks.end());
    EXPECT_EQ(found + 1, chunks.chunks());
  }
}

TEST(reg_eff_presplit, leaves_a_heap_whole_that_is_too_small_or_shall_be) {
  for (const presplit chunks : {presplit(1, 8, 1), presplit(8, 8, 1), presplit(1000, 0, 1),
                                presplit(8 * 4, 8, 4), presplit((1u << 31) - 1, 0, h200)}) {
    EXPECT_EQ(chunks.chunks(), 1u);
    EXPECT_EQ(chunks.next_start(0), 0u);
    EXPECT_EQ(chunks.next_start(1), chunks.end());
  }
  EXPECT_EQ(presplit(9, 8, 1).chunks(), 2u);
  EXPECT_EQ(presplit(9, 8, 1).next_start(1), 8u);
}

TEST(reg_eff_presplit, counts_the_largest_heap_without_overflow) {
  constexpr std::uint32_t most = (1u << 31) - 1;
  for (const std::uint32_t smallest : {1u, 8u, 1u << 16}) {
    for (const std::uint32_t trees : {1u, h200}) {
      const presplit chunks(most, smallest, trees);
      const std::uint64_t in_trees = std::uint64_t{trees} * chunks.levels() * chunks.root();
      EXPECT_LT(in_trees, most);
      EXPECT_EQ(in_trees, chunks.tree_start(trees));
      EXPECT_GT(2 * in_trees + in_trees / chunks.levels(), most / 2) << "a level more would fit";
      EXPECT_EQ(chunks.next_start(in_trees), in_trees);
      EXPECT_EQ(chunks.next_start(in_trees + 1), most);
    }
  }
}

TEST(reg_eff_config, counts_a_header_with_every_block) {
  constexpr reg_eff_config two_words{};
  constexpr reg_eff_config one_word{.header_words = 1};
  constexpr reg_eff_config counter{.keeps = book_keeping::counter};
  EXPECT_EQ(two_words.granules_for(8), 1u);
  EXPECT_EQ(two_words.granules_for(9), 2u);
  EXPECT_EQ(one_word.granules_for(12), 1u);
  EXPECT_EQ(one_word.granules_for(13), 2u);
  EXPECT_EQ(counter.granules_for(16), 1u);
  EXPECT_EQ(counter.granules_for(17), 2u);
  EXPECT_EQ(two_words.granules_for(32_GiB), (1u << 31) + 1u);
}

TEST(reg_eff_config, splits_what_fragmentation_does_not_allow) {
  constexpr reg_eff_config twice{};
  EXPECT_TRUE(twice.splits(14, 7));
  EXPECT_FALSE(twice.splits(13, 7));
  EXPECT_FALSE(twice.splits(1, 1));
  EXPECT_TRUE(twice.splits(0xffffffffu, 0x7fffffffu));
  EXPECT_FALSE(twice.splits(0xffffffffu, 0x80000000u));
  constexpr reg_eff_config exact{.max_fragmentation_percent = 100};
  EXPECT_TRUE(exact.splits(8, 7));
  EXPECT_FALSE(exact.splits(7, 7));
}

TEST(reg_eff_config, halves_what_has_room_for_many_requests) {
  constexpr reg_eff_config from_four{.halves_from = 4};
  EXPECT_EQ(from_four.half_of(27, 7), 0u);
  EXPECT_EQ(from_four.half_of(28, 7), 14u);
  EXPECT_EQ(from_four.half_of(41, 7), 14u) << "a multiple of what was asked for";
  EXPECT_EQ(from_four.half_of(42, 7), 21u);
  EXPECT_EQ(from_four.half_of(0, 1), 0u);
  EXPECT_EQ(from_four.half_of(0x7fffffffu, 0x7fffffffu), 0u);
  EXPECT_EQ(reg_eff_config{}.half_of(0x7fffffffu, 1), 0x3fffffffu);
  EXPECT_FALSE(reg_eff_config{.halves_from = 1}.is_valid()) << "halves would be empty";
}

TEST(reg_eff_layout, names_the_largest_heap_of_a_list_and_has_no_limit_for_counters) {
  const simt::device_properties machine = machine_of(h200);
  auto* const anywhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44);
  // Nobody touches the region: constructors only compute.
  const reg_eff<> large({anywhere, 32_GiB - 16}, machine, {});
  EXPECT_GT(large.largest_block(), 31_GiB);
  EXPECT_LT(large.largest_block(), 32_GiB);
  try {
    const reg_eff<> beyond({anywhere, 130_GiB}, machine, {});
    FAIL() << "a heap of 130 GiB was made";
  } catch (const invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "reg_eff_c: a heap of 139586437120 bytes; at most 34359738352 are possible with "
                 "granules of 16 bytes");
  }
  using wide = reg_eff<reg_eff_config{.granule_bytes = 128}>;
  EXPECT_GT(wide({anywhere, 130_GiB}, machine, {}).largest_block(), 128_GiB);
  using counter = reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>;
  EXPECT_EQ(counter({anywhere, 130_GiB}, machine, {}).largest_block(), 130_GiB - 128);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
