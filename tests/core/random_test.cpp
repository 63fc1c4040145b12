// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/random.hpp"

#include "warpheap/core/bits.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace warpheap {
namespace {

// A heap of 40 GiB and more has this many pages of 16 bytes.
TEST(random, a_round_over_more_than_2_to_the_31_places_visits_each_once) {
  constexpr std::uint32_t count = 3'435'000'000u;
  for (const std::uint32_t start : {0u, 1u, 860'000'000u, 2'900'000'000u, count - 1}) {
    for (const std::uint32_t i : {0u, 1u, 534'999'999u, 535'000'000u, 1'394'967'296u, count - 1}) {
      const std::uint64_t place = (std::uint64_t{start} + i) % count;
      EXPECT_EQ(place_in_round(start, i, count), place) << "place " << i << " from " << start;
    }
  }
}

TEST(hash, mix64_has_the_published_values) {
  // The first numbers of SplitMix64 from state 0, as its authors' reference prints them.
  random_sequence random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafull);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4ull);
  EXPECT_EQ(random.next(), 0x06c45d188009454full);
  EXPECT_EQ(mix64(0), 0u);
}

TEST(hash, every_input_bit_reaches_every_output_bit) {
  constexpr int samples = 2000;
  random_sequence random(3);
  std::vector<int> flips(64 * 64);
  for (int i = 0; i < samples; ++i) {
    const std::uint64_t word = random.next();
    for (int in = 0; in < 64; ++in) {
      const std::uint64_t changed = mix64(word) ^ mix64(word ^ (std::uint64_t{1} << in));
      for (int out = 0; out < 64; ++out) flips[in * 64 + out] += changed >> out & 1;
    }
  }
  // Six standard deviations of a fair coin: one of 4096 counts exceeds them in 10^5 seeds.
  const double allowed = 6 * std::sqrt(samples * 0.25);
  for (int i = 0; i < 64 * 64; ++i) {
    EXPECT_NEAR(flips[i], samples / 2.0, allowed)
        << "input bit " << i / 64 << ", output bit " << i % 64;
  }
}

TEST(random, scale_to_stays_below_its_bound_and_reaches_its_ends) {
  for (const std::uint32_t bound : {1u, 2u, 3u, 1000u, 1u << 31, UINT32_MAX}) {
    EXPECT_EQ(scale_to(0, bound), 0u);
    EXPECT_EQ(scale_to(UINT32_MAX, bound), bound - 1);
  }
}

TEST(random, below_is_uniform) {
  constexpr int draws = 300000;
  for (const std::uint32_t bound : {1u, 2u, 7u, 100u}) {
    random_sequence random(bound);
    std::vector<int> counts(bound);
    for (int i = 0; i < draws; ++i) {
      const std::uint32_t drawn = random.below(bound);
      ASSERT_LT(drawn, bound);
      ++counts[drawn];
    }
    const double expected = static_cast<double>(draws) / bound;
    for (const int count : counts) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
  }
}

TEST(random, sequences_do_not_repeat_soon) {
  random_sequence random(42);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100000; ++i) {
    EXPECT_TRUE(seen.insert(random.next()).second) << "number " << i << " came before";
  }
}

}  // namespace
}  // namespace warpheap
