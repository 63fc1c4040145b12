// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/random.hpp"

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
