// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/bits.hpp"

#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

namespace warpheap {
namespace {

/// Positions of the set bits, found one by one.
template <class Word>
std::vector<int> positions(Word word) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(sizeof(Word) * 8); ++i) {
    if ((word >> i & 1) != 0) found.push_back(i);
  }
  return found;
}

template <class Word>
void expect_word(Word word) {
  const std::vector<int> bits = positions(word);
  ASSERT_EQ(popcount(word), static_cast<int>(bits.size())) << word;
  for (std::size_t k = 0; k < bits.size(); ++k) {
    ASSERT_EQ(kth_set_bit(word, static_cast<int>(k)), bits[k]) << word << ", k = " << k;
  }
  if (bits.empty()) return;
  EXPECT_EQ(lowest_bit(word), bits.front()) << word;
  EXPECT_EQ(highest_bit(word), bits.back()) << word;
  EXPECT_EQ(floor_log2(word), bits.back()) << word;
  EXPECT_EQ(ceil_log2(word), bits.size() == 1 ? bits.back() : bits.back() + 1) << word;
  EXPECT_EQ(is_power_of_two(word), bits.size() == 1) << word;
}

template <class Word>
class words : public ::testing::Test {};
using word_types = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(words, word_types);

TEST(bits, runs_begin_where_as_many_bits_are_set) {
  for (std::uint64_t word = 1, round = 0; round < 200; ++round) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t bits = word | word << 7 | word >> 11;
    for (int length = 1; length <= 64; ++length) {
      std::uint64_t starts = 0;
      for (int at = 0; at + length <= 64; ++at) {
        const std::uint64_t run = low_bits<std::uint64_t>(length) << at;
        if ((bits & run) == run) starts |= std::uint64_t{1} << at;
      }
      ASSERT_EQ(starts_of_runs(bits, length), starts) << bits << ", " << length;
    }
  }
  EXPECT_EQ(starts_of_runs(~std::uint64_t{0}, 64), 1u);
}

TYPED_TEST(words, agree_with_a_walk_over_the_bits) {
  const auto top = static_cast<TypeParam>(~TypeParam{0});
  expect_word(TypeParam{0});
  expect_word(top);
  for (std::uint32_t word = 1; word <= 0xffff && word <= top; ++word) {
    expect_word(static_cast<TypeParam>(word));
  }
  random_sequence random(1);
  for (int i = 0; i < 10000; ++i) {
    // Dense, even and sparse words.
    const std::uint64_t a = random.next();
    const std::uint64_t b = random.next();
    for (const std::uint64_t word : {a | b, a, a & b}) expect_word(static_cast<TypeParam>(word));
  }
}

TYPED_TEST(words, ranges_of_bits) {
  constexpr int width = sizeof(TypeParam) * 8;
  for (int first = 0; first <= width; ++first) {
    for (int count = 0; first + count <= width; ++count) {
      if (first == width) continue;
      TypeParam expected = 0;
      for (int i = first; i < first + count; ++i) {
        expected = static_cast<TypeParam>(expected | TypeParam{1} << i);
      }
      ASSERT_EQ(bit_range<TypeParam>(first, count), expected) << first << ", " << count;
    }
  }
  EXPECT_EQ(low_bits<TypeParam>(0), 0u);
  EXPECT_EQ(low_bits<TypeParam>(width), static_cast<TypeParam>(~TypeParam{0}));
}

TYPED_TEST(words, bits_behind_the_last_of_a_bitmap) {
  constexpr std::uint64_t width = sizeof(TypeParam) * 8;
  for (std::uint64_t count = 0; count <= 3 * width; ++count) {
    for (std::uint64_t bit = 0; bit < 4 * width; ++bit) {
      const TypeParam word = bits_beyond<TypeParam>(count, bit / width);
      ASSERT_EQ((word >> bit % width & 1u) != 0, bit >= count) << bit << " of " << count;
    }
  }
}

TEST(bits, logarithms_of_zero_and_one) {
  EXPECT_EQ(ceil_log2(0u), 0);
  EXPECT_EQ(ceil_log2(1u), 0);
  EXPECT_EQ(floor_log2(1u), 0);
  EXPECT_FALSE(is_power_of_two(0u));
}

}  // namespace
}  // namespace warpheap
