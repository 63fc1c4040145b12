// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace warpheap::bench {
namespace {

TEST(Statistics, KnownSample) {
  const summary s = summarize_all({4, 1, 3, 2});
  EXPECT_EQ(s.first, 4);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_DOUBLE_EQ(s.std, std::sqrt(5.0 / 3));
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 4);
  EXPECT_EQ(s.p50, 2);
  EXPECT_EQ(s.p99, 4);
}

TEST(Statistics, OddNumberHasItsMiddleAsMedian) { EXPECT_EQ(summarize_all({9, 1, 5}).median, 5); }

TEST(Statistics, FirstRunIsApartFromTheWarmOnes) {
  const summary s = summarize_warm({100, 1, 2, 3});
  EXPECT_EQ(s.first, 100);
  EXPECT_EQ(s.max, 3);
  EXPECT_EQ(s.mean, 2);
}

TEST(Statistics, OneRunIsFirstAndWarm) {
  const summary s = summarize_warm({7});
  EXPECT_EQ(s.first, 7);
  EXPECT_EQ(s.median, 7);
  EXPECT_EQ(s.std, 0);
}

TEST(Statistics, PercentilesByNearestRank) {
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  EXPECT_EQ(percentile(hundred, 0), 1);
  EXPECT_EQ(percentile(hundred, 50), 50);
  EXPECT_EQ(percentile(hundred, 99), 99);
  EXPECT_EQ(percentile(hundred, 99.5), 100);
  EXPECT_EQ(percentile(hundred, 100), 100);
}

}  // namespace
}  // namespace warpheap::bench
