// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every collective, over every kind of set of lanes. What a lane's group was is part of the record,
// so the expectations hold for whatever set the machine makes converge.
#include "device_array.hpp"

#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <functional>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// What a lane passes to the collectives, a function of its rank alone.
WARPHEAP_HD constexpr std::uint64_t word_of(std::uint64_t rank) { return mix64(rank + 1); }
WARPHEAP_HD constexpr bool vote_of(std::uint64_t rank) { return (word_of(rank) & 1) != 0; }
WARPHEAP_HD constexpr std::uint32_t high_word_of(std::uint64_t rank) {
  return static_cast<std::uint32_t>(word_of(rank) >> 32);
}
/// Few values, so that several lanes pass the same.
WARPHEAP_HD constexpr std::uint32_t colour_of(std::uint64_t rank) {
  return static_cast<std::uint32_t>(word_of(rank) >> 8) % 3;
}

/// A lane that takes no part.
inline constexpr std::uint32_t absent = 99;

struct outcome {
  std::uint64_t shuffled;
  std::uint64_t broadcast;
  std::uint64_t sum;
  std::uint64_t merged;
  std::uint32_t small_sum;
  std::uint32_t least;
  std::uint32_t mask;
  std::uint32_t ballot;
  std::uint32_t match;
  std::uint32_t match_wide;
  int size;
  int rank;
  int leader;
  bool is_leader;
  bool any;
  bool all;
};

struct run_collectives {
  const std::uint32_t* branch;
  outcome* out;

  WARPHEAP_DEVICE void all_of_them(std::uint64_t rank) const {
    const simt::group together = simt::coalesced(nullptr);
    outcome& mine = out[rank];
    mine.mask = together.mask().bits();
    mine.size = together.size();
    mine.rank = together.rank();
    mine.leader = together.leader();
    mine.is_leader = together.is_leader();
    mine.ballot = together.ballot(vote_of(rank)).bits();
    mine.any = together.any(vote_of(rank));
    mine.all = together.all(vote_of(rank));
    // Each member asks the next one, in a circle.
    const int next = together.mask().nth((together.rank() + 1) % together.size());
    mine.shuffled = together.shuffle(word_of(rank), next);
    mine.broadcast = together.broadcast(word_of(rank));
    mine.match = together.match(colour_of(rank)).mask().bits();
    mine.match_wide = together.match(std::uint64_t{colour_of(rank)} << 40).mask().bits();
    mine.sum = together.scan_add(word_of(rank));
    mine.small_sum = together.scan_add(colour_of(rank));
    mine.least = together.least(high_word_of(rank));
    mine.merged = together.merge_bits(std::uint64_t{3} << 2 * simt::lane_id());
    together.sync();
  }

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    switch (branch[rank]) {
      case 0:
        all_of_them(rank);
        break;
      case 1:
        simt::backoff(100);
        all_of_them(rank);
        break;
      case 2:
        all_of_them(rank);
        simt::backoff(100);
        break;
      default:
        break;
    }
  }
};

void expect_collectives(const std::vector<std::uint32_t>& branch, std::uint32_t threads) {
  const auto blocks = static_cast<std::uint32_t>(branch.size() / threads);
  const device_array<std::uint32_t> branches(branch);
  const device_array<outcome> outcomes(branch.size());
  machine().launch({blocks, threads}, run_collectives{branches.get(), outcomes.get()});
  const auto lanes = outcomes.read();
  for (std::uint32_t i = 0; i < lanes.size(); ++i) {
    if (branch[i] == absent) continue;
    const outcome& lane = lanes[i];
    const std::uint32_t number = i % threads % 32;
    const std::uint32_t warp = i - number;
    const simt::lane_mask mask(lane.mask);
    ASSERT_TRUE(mask.contains(static_cast<int>(number))) << "thread " << i;
    std::uint32_t votes = 0;
    std::uint32_t alike = 0;
    std::uint64_t sum = 0;
    std::uint32_t small_sum = 0;
    std::uint32_t least = ~0u;
    std::uint64_t merged = 0;
    for (std::uint32_t l = 0; l < 32; ++l) {
      if (!mask.contains(static_cast<int>(l))) continue;
      const std::uint32_t other = warp + l;
      ASSERT_LT(other % threads, threads);
      ASSERT_EQ(other / threads, i / threads) << "a group reaches beyond its block";
      ASSERT_NE(branch[other], absent) << "thread " << i << " has a group with an absent lane";
      ASSERT_EQ(lanes[other].mask, lane.mask) << "threads " << i << " and " << other;
      if (vote_of(other)) votes |= 1u << l;
      if (colour_of(other) == colour_of(i)) alike |= 1u << l;
      least = std::min(least, high_word_of(other));
      merged |= std::uint64_t{3} << 2 * l;
      if (l < number) {
        sum += word_of(other);
        small_sum += colour_of(other);
      }
    }
    ASSERT_EQ(lane.size, mask.count());
    ASSERT_EQ(lane.rank, mask.below(static_cast<int>(number)).count());
    ASSERT_EQ(lane.leader, mask.lowest());
    ASSERT_EQ(lane.is_leader, mask.lowest() == static_cast<int>(number));
    ASSERT_EQ(lane.ballot, votes);
    ASSERT_EQ(lane.any, votes != 0);
    ASSERT_EQ(lane.all, votes == lane.mask);
    const int next = mask.nth((lane.rank + 1) % lane.size);
    ASSERT_EQ(lane.shuffled, word_of(warp + static_cast<std::uint32_t>(next)));
    ASSERT_EQ(lane.broadcast, word_of(warp + static_cast<std::uint32_t>(lane.leader)));
    ASSERT_EQ(lane.match, alike);
    ASSERT_EQ(lane.match_wide, alike);
    ASSERT_EQ(lane.sum, sum);
    ASSERT_EQ(lane.small_sum, small_sum);
    ASSERT_EQ(lane.least, least);
    ASSERT_EQ(lane.merged, merged);
  }
}

struct pattern {
  const char* name;
  std::uint32_t (*branch_of)(std::uint32_t thread);
};

class collectives : public ::testing::TestWithParam<pattern> {};

TEST_P(collectives, give_each_lane_of_a_group_its_result) {
  for (const std::uint32_t threads : {1u, 5u, 31u, 32u, 33u, 64u, 71u}) {
    SCOPED_TRACE("blocks of " + std::to_string(threads));
    std::vector<std::uint32_t> branch(6 * threads);
    for (std::uint32_t i = 0; i < branch.size(); ++i) branch[i] = GetParam().branch_of(i);
    expect_collectives(branch, threads);
  }
}

INSTANTIATE_TEST_SUITE_P(
    of_lanes, collectives,
    ::testing::Values(
        pattern{"all_together", [](std::uint32_t) { return 0u; }},
        pattern{"halves", [](std::uint32_t i) { return i % 32 < 16 ? 0u : 1u; }},
        pattern{"even_and_odd", [](std::uint32_t i) { return i % 2; }},
        pattern{"three_ways", [](std::uint32_t i) { return i % 3; }},
        pattern{"one_against_the_rest", [](std::uint32_t i) { return i % 32 == 7 ? 2u : 0u; }},
        pattern{"most_are_absent", [](std::uint32_t i) { return i % 5 == 0 ? 0u : absent; }},
        pattern{"growing_prefixes",
                [](std::uint32_t i) { return i % 32 <= i / 32 * 5 % 32 ? 0u : absent; }},
        pattern{"at_random_with_absent_lanes",
                [](std::uint32_t i) {
                  const auto drawn = static_cast<std::uint32_t>(mix64(i + 77) % 4);
                  return drawn == 3 ? absent : drawn;
                }}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace test
WARPHEAP_END_NAMESPACE
