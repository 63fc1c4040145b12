// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/lanes/draw.hpp"
#include "bench/lanes/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace warpheap::bench {
namespace {

request_batch sizes(std::uint64_t least, std::uint64_t most, distribution how) {
  request_batch batch;
  batch.size_min = least;
  batch.size_max = most;
  batch.sizes = how;
  batch.seed = 1;
  return batch;
}

std::map<std::uint64_t, int> frequencies(const request_batch& batch, std::uint64_t draws) {
  std::map<std::uint64_t, int> seen;
  for (std::uint64_t i = 0; i < draws; ++i) ++seen[lanes::requested_bytes(batch, i)];
  return seen;
}

/// Every count lies within five standard deviations of an even share.
void expect_even(const std::map<std::uint64_t, int>& seen, std::size_t choices, double draws) {
  ASSERT_EQ(seen.size(), choices);
  const double share = draws / static_cast<double>(choices);
  for (const auto& [size, count] : seen) {
    EXPECT_NEAR(count, share, 5 * std::sqrt(share)) << "size " << size;
  }
}

TEST(Draw, UniformHasEverySizeAndBothEnds) {
  const auto seen = frequencies(sizes(5, 24, distribution::uniform), 100'000);
  expect_even(seen, 20, 100'000);
  EXPECT_EQ(seen.begin()->first, 5u);
  EXPECT_EQ(seen.rbegin()->first, 24u);
}

TEST(Draw, PowersHaveEveryPowerAndNothingElse) {
  const auto seen = frequencies(sizes(16, 1024, distribution::powers), 100'000);
  expect_even(seen, 7, 100'000);
  for (const auto& [size, count] : seen) EXPECT_TRUE(is_power_of_two(size)) << size;
  EXPECT_EQ(seen.begin()->first, 16u);
  EXPECT_EQ(seen.rbegin()->first, 1024u);
}

TEST(Draw, OneSizeIsThatSize) {
  EXPECT_EQ(frequencies(sizes(48, 48, distribution::uniform), 100).size(), 1u);
  EXPECT_EQ(lanes::requested_bytes(sizes(64, 64, distribution::powers), 3), 64u);
}

TEST(Draw, WidestRangeStaysInside) {
  const std::uint64_t most = (std::uint64_t{1} << 32) - 1;
  const request_batch batch = sizes(1, most, distribution::uniform);
  EXPECT_EQ(lanes::draw_size(batch, ~std::uint64_t{0}), most);
  EXPECT_EQ(lanes::draw_size(batch, 0), 1u);
}

TEST(Draw, PartOfABatchAsksForTheSame) {
  const request_batch whole = sizes(1, 1000, distribution::uniform);
  request_batch part = whole;
  part.first = 40;
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(lanes::requested_bytes(part, i), lanes::requested_bytes(whole, 40 + i));
  }
}

TEST(Draw, SeedChangesTheSizes) {
  const request_batch one = sizes(1, 1 << 20, distribution::uniform);
  request_batch two = one;
  two.seed = 2;
  int same = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    same += lanes::requested_bytes(one, i) == lanes::requested_bytes(two, i) ? 1 : 0;
  }
  EXPECT_LT(same, 3);
}

TEST(Draw, AdjacenciesComeFromTheOffsets) {
  const std::vector<std::uint64_t> offsets{0, 3, 3, 10};
  request_batch batch;
  batch.offsets = offsets.data();
  EXPECT_EQ(lanes::requested_bytes(batch, 0), 12u);
  EXPECT_EQ(lanes::requested_bytes(batch, 1), 0u);
  EXPECT_EQ(lanes::requested_bytes(batch, 2), 28u);
}

TEST(Permutation, IsOne) {
  for (const std::uint64_t count : {1, 2, 3, 4, 5, 31, 32, 33, 1000, 4097}) {
    const lanes::permutation shuffled(count, 7);
    std::vector<bool> hit(count, false);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t image = shuffled(i);
      ASSERT_LT(image, count);
      EXPECT_FALSE(hit[image]) << "twice among " << count;
      hit[image] = true;
    }
  }
}

TEST(Permutation, SeedChangesIt) {
  const lanes::permutation one(10'000, 1);
  const lanes::permutation two(10'000, 2);
  int same = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) same += one(i) == two(i) ? 1 : 0;
  EXPECT_LT(same, 20);
}

TEST(Selection, RandomChoosesExactlyThatMany) {
  const selection third{selection::kind::random, 333, 5};
  std::uint64_t chosen = 0;
  std::uint64_t in_first_half = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    if (!lanes::is_selected(third, 1000, i)) continue;
    ++chosen;
    in_first_half += i < 500 ? 1 : 0;
  }
  EXPECT_EQ(chosen, 333u);
  EXPECT_NEAR(static_cast<double>(in_first_half), 166, 45);
}

TEST(Selection, EverySecondAndAll) {
  EXPECT_FALSE(lanes::is_selected({selection::kind::every_second, 0, 0}, 10, 4));
  EXPECT_TRUE(lanes::is_selected({selection::kind::every_second, 0, 0}, 10, 5));
  EXPECT_TRUE(lanes::is_selected({}, 10, 4));
}

}  // namespace
}  // namespace warpheap::bench
