// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How places are cut into slices, up to as many as 32 bits can number. No memory stands behind
// them.
#include "warpheap/sync/shared_search.hpp"
#include "any_schedule.hpp"
#include "rubbish.hpp"

#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

class search_of_places : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(search_of_places, visits_each_of_them_once_in_order) {
  shared_search<> search;
  std::uint64_t next = 0;
  std::uint64_t slices = 0;
  simt::explorer one_lane({1, 1}, 4'000'000);
  const auto outcome = one_lane.run({simt::strategy::sticky, 1}, [&] {
    search.format();
    const auto one_round = [&](std::uint32_t first, std::uint32_t count) {
      EXPECT_EQ(first, next);
      EXPECT_GT(count, 0u);
      next += count;
      ++slices;
      return 0u;
    };
    search.search(
        simt::coalesced(nullptr), GetParam(), [] { return 1u; }, one_round);
    EXPECT_TRUE(search.is_out(1)) << "a round that found nothing does not say so";
  });
  EXPECT_EQ(outcome.stuck, "");
  EXPECT_EQ(next, GetParam()) << "visited in " << slices << " slices";
}

INSTANTIATE_TEST_SUITE_P(sizes, search_of_places,
                         ::testing::Values(1u, 129u, (1u << 23) + 1, 1u << 24, (1u << 25) + 77,
                                           1u << 31, (1u << 31) + 1, 0xffff'0001u, UINT32_MAX));

// Lanes look at a slice together, and each sees something else. The one that ends the round knows
// what the others have seen, whichever of them comes first.
TEST(shared_search, what_any_lane_has_left_counts) {
  shared_search<> search;
  simt::explorer two_lanes({1, 2}, 10'000);
  const auto lane = [&] {
    const auto mine = static_cast<std::uint32_t>(simt::lane_id());
    search.search(
        simt::warp(), 1, [] { return 9u; },
        [mine](std::uint32_t, std::uint32_t) { return 2 + 3 * mine; });
  };
  expect_in_schedules(
      two_lanes, 300, [&] { search.format(); }, lane,
      [&] { return search.known().left() != 5 || !search.is_out(6) || search.is_out(5); });
}

// A word has 23 bits for them.
TEST(exhaustion, the_longest_runs_that_a_word_can_tell_of_are_told_apart) {
  exhaustion known;
  known.format();
  for (std::uint32_t units = exhaustion::most_units; units > 1; units /= 2) {
    EXPECT_TRUE(known.confirm(known.announce(), units));
    EXPECT_TRUE(known.is_out(units)) << units;
    EXPECT_FALSE(known.is_out(units - 1)) << units;
  }
  known.released();
  EXPECT_FALSE(known.is_out(exhaustion::most_units));
}

TEST(shared_search, format_leaves_nothing_of_what_was_there) {
  EXPECT_TRUE(formats_all_of<shared_search<>>([](shared_search<>& one) { one.format(); }));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
