// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread against std::vector<bool>.
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

class bitmap_runs_over : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  bitmap_runs_over()
      : words(bitmap_tree::words_for(universe())),
        tree(words.data(), universe()),
        oracle(universe(), false) {
    tree.format(0, 0, 1);
  }

  static std::uint32_t universe() { return GetParam(); }

  /// First element of the last run of `length` elements.
  std::uint32_t last_run(std::uint32_t length) const {
    std::uint32_t have = 0;
    for (std::uint32_t e = universe(); e-- > 0;) {
      have = oracle[e] ? have + 1 : 0;
      if (have == length) return e;
    }
    return bitmap_tree::none;
  }
  /// First element of the first run of `length` elements at or behind `from`.
  std::uint32_t first_run(std::uint32_t length, std::uint32_t from) const {
    std::uint32_t have = 0;
    for (std::uint32_t e = from; e < universe(); ++e) {
      have = oracle[e] ? have + 1 : 0;
      if (have == length) return e + 1 - length;
    }
    return bitmap_tree::none;
  }
  bool all_of(std::uint32_t first, std::uint32_t length) const {
    for (std::uint32_t e = first; e < first + length; ++e) {
      if (!oracle[e]) return false;
    }
    return true;
  }
  void set(std::uint32_t first, std::uint32_t length, bool value) {
    for (std::uint32_t e = first; e < first + length; ++e) oracle[e] = value;
  }
  void expect_equal() const {
    for (std::uint32_t e = 0; e < universe(); ++e) {
      ASSERT_EQ(tree.contains(e), oracle[e]) << e;
    }
    bool right = true;
    tree.check(0, 1, [&right](std::uint64_t) { right = false; });
    EXPECT_TRUE(right);
  }

  std::vector<std::uint64_t> words;
  bitmap_tree tree;
  std::vector<bool> oracle;
};

TEST_P(bitmap_runs_over, are_found_claimed_and_inserted) {
  random_sequence random(universe());
  insert_run(tree, 0, universe());
  set(0, universe(), true);
  for (int step = 0; step < 3'000; ++step) {
    const std::uint32_t first = random.below(universe());
    std::uint32_t length = 1 + random.below(random.below(4) == 0 ? universe() : 8);
    switch (random.below(6)) {
      case 0: {
        const std::uint32_t top = find_last_run(tree, length);
        const std::uint32_t last = last_run(length);
        if (last == bitmap_tree::none) {
          ASSERT_EQ(top, bitmap_tree::none) << "run of " << length;
          break;
        }
        ASSERT_EQ(top, last + length - 1) << "run of " << length;
        ASSERT_TRUE(claim_run(tree, last, length));
        set(last, length, false);
        break;
      }
      case 1: {
        length = length < universe() - first ? length : universe() - first;
        ASSERT_EQ(contains_run(tree, first, length), all_of(first, length));
        const bool claimed = claim_run(tree, first, length);
        ASSERT_EQ(claimed, all_of(first, length)) << first << " + " << length;
        if (claimed) set(first, length, false);
        break;
      }
      case 2: {
        const std::uint32_t word = random.below(tree.leaf_words());
        const std::uint32_t found = first_run(length, word * 64);
        ASSERT_EQ(find_run_from(tree, length, word), found) << length;
        ASSERT_EQ(claim_run_from(tree, length, word), found) << length;
        if (found != bitmap_tree::none) set(found, length, false);
        break;
      }
      case 3:
        length = length < universe() - first ? length : universe() - first;
        for (std::uint32_t e = first; e < first + length; ++e) tree.remove(e);
        set(first, length, false);
        break;
      default:
        length = length < universe() - first ? length : universe() - first;
        insert_run(tree, first, length);
        set(first, length, true);
    }
    if (step % 100 == 0) expect_equal();
  }
  expect_equal();
}

TEST_P(bitmap_runs_over, longer_than_the_universe_are_not_there) {
  insert_run(tree, 0, universe());
  EXPECT_EQ(find_last_run(tree, universe() + 1), bitmap_tree::none);
  EXPECT_EQ(claim_run_from(tree, universe() + 1, 0), bitmap_tree::none);
  EXPECT_EQ(find_last_run(tree, universe()), universe() - 1);
  EXPECT_EQ(claim_run_from(tree, universe(), 0), 0u);
  EXPECT_EQ(find_last_run(tree, 1), bitmap_tree::none);
}

TEST_P(bitmap_runs_over, of_a_shape_begin_at_its_places_only) {
  random_sequence random(universe());
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t gaps = random.below(universe() / 4 + 1);
    tree.format(universe(), 0, 1);
    set(0, universe(), true);
    for (std::uint32_t i = 0; i < gaps; ++i) {
      const std::uint32_t gap = random.below(universe());
      tree.remove(gap);
      oracle[gap] = false;
    }
    const std::uint32_t step = 1u << random.below(8);
    const run_shape wanted{1 + random.below(70), step, random.below(step)};
    std::uint32_t first = wanted.offset;
    while (first < universe() &&
           (wanted.length > universe() - first || !all_of(first, wanted.length))) {
      first += step;
    }
    const std::uint32_t found = find_run_in(
        tree.leaf_words(), wanted, 0, [&](std::uint32_t word) { return tree.load_word(word); });
    EXPECT_EQ(found, first < universe() ? first : bitmap_tree::none)
        << wanted.length << " from " << wanted.offset << " in steps of " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(universes, bitmap_runs_over,
                         ::testing::Values(1, 5, 63, 64, 65, 127, 128, 129, 1000, 5000));

// Its words begin again at 0 there, in the eyes of a level that has 64 of them.
TEST(bitmap_runs, what_ends_with_the_universe_concerns_nothing_behind_it) {
  constexpr std::uint32_t universe = 4096;
  for (const std::uint64_t behind : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    for (const std::uint32_t elements : {0u, 1u}) {
      std::vector<std::uint64_t> words(bitmap_tree::words_for(universe) + 1, behind);
      const bitmap_tree tree(words.data(), universe);
      tree.format(elements, 0, 1);
      insert_run(tree, universe - 64, 64);
      EXPECT_EQ(tree.contains(0), elements == 1);
      EXPECT_TRUE(contains_run(tree, universe - 64, 64));
      EXPECT_EQ(words.back(), behind);
      EXPECT_TRUE(claim_run(tree, universe - 64, 64));
      EXPECT_FALSE(tree.contains(universe - 1));
      EXPECT_EQ(tree.contains(0), elements == 1);
      EXPECT_EQ(words.back(), behind);
    }
  }
}

TEST(bitmap_runs, end_where_a_whole_word_is_missing) {
  std::vector<std::uint64_t> words(bitmap_tree::words_for(192));
  const bitmap_tree tree(words.data(), 192);
  tree.format(0, 0, 1);
  insert_run(tree, 62, 2);
  insert_run(tree, 128, 2);
  EXPECT_EQ(find_run_from(tree, 2, 0), 62u);
  EXPECT_EQ(find_run_from(tree, 2, 1), 128u);
  EXPECT_EQ(find_run_from(tree, 3, 0), bitmap_tree::none);
  EXPECT_EQ(find_last_run(tree, 3), bitmap_tree::none);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
