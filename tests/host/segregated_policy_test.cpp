// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index of free blocks by size classes, and the two policies over it against their rule.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "model_of_classes.hpp"
#include "warpheap/host/policies/segregated_fit.hpp"
#include "warpheap/host/policies/tlsf.hpp"

namespace warpheap::host {
namespace {

using namespace one_region;

// Sizes up to 2^8 granules, uniform in their logarithm; or up to 39, all as frequent; or up to 60,
// and some that are so large that all of these are small beside them.
enum class sizes { logarithmic, uniform, mixed };

std::size_t draw(std::mt19937& random, sizes how) {
  if (how == sizes::uniform) return 1 + random() % 39;
  if (how == sizes::mixed) return random() % 8 == 0 ? 300 + random() % 200 : 1 + random() % 60;
  return 1 + random() % (std::size_t{1} << random() % 9);
}

template <class Policy>
void compare_classes_with_their_rule(int columns, bool low_addresses, sizes how, unsigned seed) {
  // Two regions that touch: blocks must not merge across.
  const std::size_t first = how == sizes::logarithmic ? 1500 : how == sizes::uniform ? 3000 : 12000;
  const std::vector<extent> regions{{base, first * granule},
                                    {base + first * granule, 700 * granule}};
  Policy policy{policy_options{granule}};
  for (const extent& region : regions) policy.add_region(region);
  model_of_classes model(regions, columns, low_addresses);
  std::vector<extent> live;
  std::mt19937 random(seed);
  for (int step = 0; step < 5000; ++step) {
    const unsigned action = random() % 20;
    if (action < (step < 1000 ? 18 : 10) || live.empty()) {
      const std::size_t bytes = draw(random, how) * granule;
      const std::size_t alignment = granule << (random() % 8 == 0 ? random() % 4 : 0);
      const extent want = model.allocate(bytes, alignment);
      ASSERT_EQ(policy.allocate(bytes - random() % granule, alignment, effort::bounded), want)
          << "step " << step;
      if (want) live.push_back(want);
    } else {
      extent& block = live[random() % live.size()];
      if (action < 11 && block.bytes > granule) {
        const std::size_t keep = (1 + random() % (block.bytes / granule - 1)) * granule;
        ASSERT_EQ(policy.truncate(block.base, keep), block.bytes - keep);
        model.truncate({block.base + keep, block.bytes - keep});
        block.bytes = keep;
      } else {
        ASSERT_EQ(policy.deallocate(block.base), block.bytes);
        model.deallocate(block);
        block = live.back();
        live.pop_back();
      }
    }
    if (step % 50 == 0) {
      ASSERT_EQ(policy.check(), std::nullopt) << "step " << step;
    }
  }
  EXPECT_TRUE(model.has_been_divided() || (columns != 1 && how == sizes::logarithmic));
  for (const extent& block : live) policy.deallocate(block.base);
  for (const extent& region : regions) {
    ASSERT_TRUE(policy.region_is_free(region.base));
    policy.remove_region(region.base);
    ASSERT_EQ(policy.check(), std::nullopt) << "every record of the region is forgotten";
  }
}

TEST(segregated_fit, puts_every_block_where_its_rule_says) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    compare_classes_with_their_rule<segregated_fit>(1, false, sizes::logarithmic, seed);
  }
}

TEST(tlsf, puts_every_block_where_its_rule_says) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    compare_classes_with_their_rule<tlsf>(32, true, sizes::logarithmic, seed);
  }
}

TEST(tlsf, puts_every_block_where_its_rule_says_while_holes_are_divided) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    compare_classes_with_their_rule<tlsf>(32, true, sizes::uniform, seed);
  }
  compare_classes_with_their_rule<tlsf>(32, true, sizes::mixed, 1);
}

TEST(segregated_fit, takes_from_the_next_class_only_what_its_own_cannot_serve) {
  with_region<segregated_fit> policy(64);
  const address a = take(policy, 7);
  const address fence = take(policy, 1);
  EXPECT_NE(fence, 0u);
  policy.deallocate(a);
  // 7 granules are in the class of 4 to 7: a request of 7 belongs there and finds them.
  EXPECT_EQ(take(policy, 7), a);
  policy.deallocate(a);
  EXPECT_EQ(take(policy, 5), a);
}

TEST(segregated_fit, a_thorough_search_finds_what_a_bounded_one_misses) {
  with_region<segregated_fit> policy(200);
  // Many blocks of 4 granules on top of one of 6 in the list of the class 4..7.
  std::vector<address> fours;
  const address six = take(policy, 6);
  std::vector<address> fences{take(policy, 1)};
  for (int n = 0; n < 20; ++n) {
    fours.push_back(take(policy, 4));
    fences.push_back(take(policy, 1));
  }
  while (take(policy, 1) != 0) {
  }
  policy.deallocate(six);
  for (const address four : fours) policy.deallocate(four);
  EXPECT_EQ(take(policy, 6, effort::bounded), 0u);
  EXPECT_EQ(take(policy, 6, effort::thorough), six);
}

TEST(tlsf, the_part_behind_an_aligned_block_is_newer_than_the_one_before_it) {
  with_region<tlsf> policy(64 + 129);
  ASSERT_EQ(take(policy, 64), base);
  const address aligned = policy.allocate(granule, 128 * granule, effort::bounded).base;
  ASSERT_EQ(aligned, base + 128 * granule);
  // Both have 64 granules.
  EXPECT_EQ(take(policy, 64), aligned + granule);
  EXPECT_EQ(take(policy, 64), base + 64 * granule);
}

TEST(tlsf, a_search_never_returns_a_block_that_is_too_small) {
  std::mt19937 random(5);
  with_region<tlsf> policy(100000);
  std::vector<address> live;
  for (int step = 0; step < 50000; ++step) {
    const std::size_t granules = 1 + random() % (1u << (random() % 12));
    const extent block = policy.allocate(granules * granule, granule, effort::bounded);
    if (block) {
      ASSERT_EQ(block.bytes, granules * granule);
      live.push_back(block.base);
    }
    if (live.size() > 200) {
      const std::size_t which = random() % live.size();
      ASSERT_NE(policy.deallocate(live[which]), 0u);
      live[which] = live.back();
      live.pop_back();
    }
  }
  EXPECT_EQ(policy.check(), std::nullopt);
  for (const address block : live) policy.deallocate(block);
  EXPECT_TRUE(policy.region_is_free(base));
}

TEST(size_index, a_class_that_becomes_empty_is_not_searched) {
  with_region<segregated_fit> policy(16);
  EXPECT_EQ(take(policy, 16), base) << "an exact fit uses the last block of its class up";
  EXPECT_EQ(take(policy, 16), 0u);
  EXPECT_EQ(take(policy, 1), 0u);
  EXPECT_EQ(policy.check(), std::nullopt);
  policy.deallocate(base);
  EXPECT_EQ(take(policy, 16), base);
}

/// Blocks of a table, each a region, in an index.
template <int Bits>
struct indexed_blocks {
  block_table table{{}, 100};
  size_index<Bits> index{policy_options{granule}};

  block_table::index add(std::size_t granules, address at = base) {
    const auto made = table.add_region({at, granules * granule});
    index.insert(table, made);
    return made;
  }
  block_table::index find(std::size_t granules) {
    return index.find(table, granules * granule, effort::bounded, [] { return false; });
  }
  block_table::index take(std::size_t granules) {
    return index.take_exact(table, granules * granule, index.class_of(granules * granule));
  }
};

TEST(size_index, a_search_passes_words_of_classes_that_have_become_empty) {
  indexed_blocks<5> blocks;
  auto& [table, index] = blocks;
  // Rows of 32 classes: each size is in another word of 64.
  std::vector<block_table::index> made;
  for (const int row : {2, 8, 14, 20, 26}) made.push_back(blocks.add(std::size_t{33} << row));
  for (const int between : {1, 2, 3}) index.remove(table, made[between]);
  EXPECT_EQ(index.check(table, 2), std::nullopt);
  EXPECT_EQ(blocks.find(1), made[0]);
  EXPECT_EQ(blocks.find(std::size_t{34} << 2), made[4]);
  EXPECT_EQ(index.check(table, 2), std::nullopt);
  index.insert(table, made[2]);
  EXPECT_EQ(blocks.find(std::size_t{34} << 2), made[2]) << "its word is known again";
  index.remove(table, made[4]);
  index.remove(table, made[2]);
  EXPECT_EQ(blocks.find(std::size_t{34} << 2), block_table::none);
  EXPECT_EQ(index.check(table, 1), std::nullopt);
}

TEST(size_index, the_newest_block_of_a_class_is_taken_only_if_it_has_the_very_size) {
  indexed_blocks<1> blocks;
  auto& [table, index] = blocks;
  const auto older = blocks.add(7);
  const auto newer = blocks.add(6);
  EXPECT_EQ(blocks.take(5), block_table::none);
  EXPECT_EQ(blocks.take(7), block_table::none) << "it is not the newest";
  EXPECT_EQ(blocks.take(6), newer);
  EXPECT_EQ(index.check(table, 1), std::nullopt);
  EXPECT_EQ(blocks.take(7), older);
  EXPECT_EQ(index.check(table, 0), std::nullopt);
  EXPECT_EQ(blocks.take(7), block_table::none);
}

TEST(size_index, a_divided_index_prefers_the_lower_half) {
  indexed_blocks<0> blocks;
  auto& [table, index] = blocks;
  const address above = base + 1000 * granule;
  const auto before = blocks.add(4, above);
  index.freed_between(base + 100 * granule);
  const auto lower = blocks.add(7);
  const auto upper = blocks.add(7, above);
  EXPECT_EQ(index.check(table, 3), std::nullopt);
  EXPECT_EQ(blocks.find(7), lower) << "though the other one is newer";
  EXPECT_EQ(blocks.take(7), lower);
  EXPECT_EQ(blocks.find(4), before) << "what was there before is in the lower half";
  EXPECT_EQ(blocks.take(7), block_table::none) << "no exact fit comes first from the upper half";
  EXPECT_EQ(blocks.find(7), upper);
  const auto large = blocks.add(100);
  EXPECT_EQ(blocks.find(2), before);
  index.remove(table, before);
  EXPECT_EQ(blocks.find(2), upper) << "a smaller class counts for more than the half";
  index.remove(table, upper);
  EXPECT_EQ(blocks.find(2), large);
  EXPECT_EQ(index.check(table, 1), std::nullopt);
}

TEST(size_index, a_block_that_changes_its_size_keeps_its_place_within_its_class) {
  indexed_blocks<1> blocks;
  auto& [table, index] = blocks;
  const auto older = blocks.add(7);
  const auto newer = blocks.add(7);
  EXPECT_EQ(blocks.find(6), newer);
  table[older].bytes = 6 * granule;
  index.resized(table, older);
  EXPECT_EQ(blocks.find(6), newer) << "it stays in its class and where it was";
  EXPECT_EQ(index.check(table, 2), std::nullopt);
  table[older].bytes = 9 * granule;
  index.resized(table, older);
  EXPECT_EQ(blocks.find(6), newer) << "it left the class";
  EXPECT_EQ(blocks.find(8), older) << "it is in its new class";
  EXPECT_EQ(index.check(table, 2), std::nullopt);
  index.remove(table, older);
  EXPECT_EQ(blocks.find(8), block_table::none);
  table[newer].bytes = 20 * granule;
  EXPECT_NE(index.check(table, 1), std::nullopt) << "the index was not told of the new size";
}

}  // namespace
}  // namespace warpheap::host
