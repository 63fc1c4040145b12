// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How places are cut into slices, up to as many as 32 bits can number. No memory stands behind
// them.
#include "warpheap/sync/shared_search.hpp"
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

TEST(shared_search, format_leaves_nothing_of_what_was_there) {
  EXPECT_TRUE(formats_all_of<shared_search<>>([](shared_search<>& one) { one.format(); }));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
