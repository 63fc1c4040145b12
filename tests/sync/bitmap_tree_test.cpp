// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread against std::set.
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

class bitmap_tree_over : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  bitmap_tree_over()
      : words(bitmap_tree::words_for(universe()) + 1, guard), tree(words.data(), universe()) {
    tree.format(0, 0, 1);
  }
  ~bitmap_tree_over() override { EXPECT_EQ(words.back(), guard) << "behind the tree's words"; }

  static std::uint32_t universe() { return GetParam(); }

  std::uint32_t successor(std::uint32_t from) const {
    const auto found = oracle.lower_bound(from);
    return found == oracle.end() ? bitmap_tree::none : *found;
  }

  void expect_equal() const {
    std::vector<std::uint32_t> wrong;
    tree.check(0, 1, [&wrong](std::uint64_t word) { wrong.push_back(std::uint32_t(word)); });
    EXPECT_TRUE(wrong.empty()) << "word " << wrong.front();
    std::set<std::uint32_t> found;
    for (std::uint32_t e = tree.successor(0); e != bitmap_tree::none; e = tree.successor(e + 1)) {
      found.insert(e);
    }
    EXPECT_EQ(found, oracle);
  }

  static constexpr std::uint64_t guard = 0xcdcdcdcdcdcdcdcdull;

  std::vector<std::uint64_t> words;
  bitmap_tree tree;
  std::set<std::uint32_t> oracle;
};

TEST_P(bitmap_tree_over, is_a_set) {
  random_sequence random(universe());
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t element = random.below(universe());
    // Phases of growth and decay, so that words and levels empty and fill again.
    const bool grows = step / 2'000 % 2 == 0;
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2:
        if (grows) {
          ASSERT_EQ(tree.insert(element), oracle.insert(element).second);
        } else {
          const std::uint32_t victim = successor(element);
          if (victim == bitmap_tree::none) break;
          ASSERT_TRUE(tree.remove(victim));
          oracle.erase(victim);
        }
        break;
      case 3:
        ASSERT_EQ(tree.remove(element), oracle.erase(element) != 0);
        break;
      case 4:
        ASSERT_EQ(tree.contains(element), oracle.count(element) != 0);
        ASSERT_EQ(tree.any(), !oracle.empty());
        break;
      case 5:
        ASSERT_EQ(tree.successor(element), successor(element));
        break;
      case 6:
        if (!grows) {
          const std::uint32_t first = successor(0);
          ASSERT_EQ(tree.claim_first(), first);
          oracle.erase(first);
        }
        break;
      case 7: {
        const std::uint32_t hash = static_cast<std::uint32_t>(random.next());
        const std::uint32_t start = scale_to(hash, tree.leaf_words()) * 64;
        const std::uint32_t claimed = tree.claim_hashed(hash);
        ASSERT_EQ(claimed, successor(start) != bitmap_tree::none ? successor(start) : successor(0));
        oracle.erase(claimed);
        break;
      }
    }
  }
  expect_equal();
}

TEST_P(bitmap_tree_over, claims_several_elements_of_one_word) {
  tree.format(tree.universe(), 0, 1);
  for (std::uint32_t e = 0; e < universe(); ++e) oracle.insert(e);
  random_sequence random(universe());
  while (!oracle.empty()) {
    const int want = 1 + static_cast<int>(random.below(40));
    const std::uint32_t first_word = random.below(tree.leaf_words());
    const auto got = tree.claim_some(want, first_word);
    ASSERT_GE(got.count(), 1);
    ASSERT_LE(got.count(), want);
    for (int i = 0; i < got.count(); ++i) {
      ASSERT_EQ(got.nth(i) / 64, got.word);
      ASSERT_EQ(oracle.erase(got.nth(i)), 1u) << got.nth(i);
    }
    if (got.count() < want) {
      ASSERT_EQ(tree.load_word(got.word), 0u) << "fewer, and there were more";
    }
  }
  EXPECT_EQ(tree.claim_some(1, 0).count(), 0);
  EXPECT_EQ(tree.claim_first(), bitmap_tree::none);
  expect_equal();
}

TEST_P(bitmap_tree_over, can_be_full_from_the_start) {
  for (const std::uint64_t lanes : {std::uint64_t{1}, std::uint64_t{7}}) {
    for (std::uint64_t rank = 0; rank < lanes; ++rank) tree.format(tree.universe(), rank, lanes);
    oracle.clear();
    for (std::uint32_t e = 0; e < universe(); ++e) oracle.insert(e);
    expect_equal();
    EXPECT_EQ(tree.successor(universe()), bitmap_tree::none);
    for (std::uint64_t rank = 0; rank < lanes; ++rank) tree.format(0, rank, lanes);
    oracle.clear();
    expect_equal();
  }
}

TEST_P(bitmap_tree_over, changes_words_as_a_whole) {
  const std::uint32_t last = tree.leaf_words() - 1;
  const std::uint64_t all = low_bits<std::uint64_t>(static_cast<int>(universe() - last * 64));
  EXPECT_EQ(tree.insert_bits(last, all), 0u);
  EXPECT_EQ(tree.load_word(last), all);
  EXPECT_FALSE(universe() % 64 != 0 && tree.remove_all_bits(last, ~std::uint64_t{0}));
  EXPECT_EQ(tree.load_word(last), all) << "all or nothing";
  EXPECT_EQ(tree.remove_bits(last, 1), 1u);
  EXPECT_EQ(tree.remove_bits(last, 1), 0u);
  EXPECT_FALSE(tree.remove_all_bits(last, all));
  if (all != 1) {
    EXPECT_TRUE(tree.remove_all_bits(last, all & ~std::uint64_t{1}));
  }
  EXPECT_FALSE(tree.any());
  expect_equal();
}

TEST_P(bitmap_tree_over, draws_each_element_and_no_other) {
  random_sequence random(universe());
  EXPECT_EQ(tree.draw(random.next()), bitmap_tree::none);
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t element = random.below(universe());
    tree.insert(element);
    oracle.insert(element);
  }
  std::set<std::uint32_t> drawn;
  for (int i = 0; i < 2000; ++i) drawn.insert(tree.draw(random.next()));
  EXPECT_EQ(drawn, oracle);
}

TEST_P(bitmap_tree_over, has_nothing_in_words_behind_its_last_one) {
  tree.format(universe(), 0, 1);
  EXPECT_NE(tree.peek_word(tree.leaf_words() - 1), 0u);
  EXPECT_EQ(tree.peek_word(tree.leaf_words()), 0u);
}

TEST_P(bitmap_tree_over, that_is_elsewhere_is_another_set) {
  std::vector<std::uint64_t> others(words);
  const bitmap_tree other = tree.at(others.data());
  EXPECT_TRUE(other.insert(universe() - 1));
  EXPECT_TRUE(other.contains(universe() - 1));
  EXPECT_FALSE(tree.contains(universe() - 1));
  EXPECT_EQ(other.successor(0), universe() - 1);
  expect_equal();
}

INSTANTIATE_TEST_SUITE_P(universes, bitmap_tree_over,
                         ::testing::Values(1, 2, 63, 64, 65, 100, 4096, 4097, 10'000, 300'000));

TEST(bitmap_tree, needs_little_more_than_a_bit_an_element) {
  EXPECT_EQ(bitmap_tree::words_for(1), 2u);
  EXPECT_EQ(bitmap_tree::words_for(64), 2u);
  EXPECT_EQ(bitmap_tree::words_for(65), 1u + 1 + 2);
  EXPECT_EQ(bitmap_tree::words_for(4096), 1u + 1 + 64);
  EXPECT_EQ(bitmap_tree::words_for(4097), 1u + 65 + 65);
  EXPECT_EQ(bitmap_tree::words_for(1u << 31), 1u + 17043521 + (1u << 25));
}

TEST(bitmap_tree, draws_what_it_has_on_every_level) {
  for (const std::uint32_t universe : {64u, 4096u, 262'144u}) {
    std::vector<std::uint64_t> words(bitmap_tree::words_for(universe));
    const bitmap_tree tree(words.data(), universe);
    tree.format(0, 0, 1);
    EXPECT_EQ(tree.draw(~std::uint64_t{0}), bitmap_tree::none);
    for (const std::uint32_t only : {universe - 1, universe / 2, universe / 64}) {
      tree.insert(only);
      EXPECT_EQ(tree.draw(~std::uint64_t{0}), only) << universe;
      tree.remove(only);
    }
  }
}

// Two leaf words, of which the second has 36 elements, behind the changes and the root.
TEST(bitmap_tree, is_found_wrong_in_each_way_in_which_it_can_be) {
  constexpr std::uint64_t beyond = std::uint64_t{1} << 40;
  const std::vector<std::vector<std::uint64_t>> wrong_ones{
      {sync::moves::begins, 0, 0, 0},  // a change that has not ended
      {0, 2, 0, beyond},               // an element that does not exist
      {0, 1, 0, 0},                    // a bit for an empty word
      {0, 0, 1, 0},                    // and none for one that is not
  };
  for (std::vector<std::uint64_t> words : wrong_ones) {
    ASSERT_EQ(words.size(), bitmap_tree::words_for(100));
    int found = 0;
    bitmap_tree(words.data(), 100).check(0, 1, [&found](std::uint64_t) { ++found; });
    EXPECT_EQ(found, 1);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
