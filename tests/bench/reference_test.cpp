// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What the peers' results are compared with, against what our own join and group-by compute.
#include "bench/peers/reference.hpp"
#include "bench/backend/cpu_machine.hpp"
#include "bench/workloads/group_by/radix_group_by.hpp"
#include "bench/workloads/join/hash_join.hpp"
#include "bench/workloads/tables/generated.hpp"

#include <gtest/gtest.h>

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace {

using bench::table;
using bench::peers::outcome;

backend::cpu_machine cpu() { return {device::cpu(), backend::catalog{}}; }

outcome our_join(const table& build, const table& probe) {
  backend::cpu_machine on = cpu();
  bench::hash_join join(on, build, probe);
  join.partition();
  const auto matches = join.two_pass();
  return {matches.size(), bench::digest(on, matches)};
}

outcome our_groups(const table& input) {
  backend::cpu_machine on = cpu();
  const bench::grouped_rows groups = bench::radix_group_by(on, input).two_pass();
  return {groups.count, bench::digest(on, groups)};
}

TEST(PeersReference, IsTheJoinOfTheGeneratedTables) {
  for (const double percent : {100.0, 10.0, 0.0}) {
    for (const double skew : {1e-9, 1.0}) {
      const table build = bench::primary_keys(3000, 1);
      const table probe = bench::foreign_keys(5000, {3000, skew}, percent, 1);
      const outcome expected = bench::peers::expected_join(build, probe);
      EXPECT_EQ(expected, our_join(build, probe)) << percent << ' ' << skew;
      if (percent == 100) {
        EXPECT_EQ(expected.rows, 5000);
      }
      if (percent == 0) {
        EXPECT_EQ(expected, outcome{});
      }
    }
  }
}

TEST(PeersReference, JoinsAllPairsOfRowsWithOneKey) {
  const table build{{7, 1, 7, 7, 9}, {1, 2, 3, 3, 4}};
  const table probe{{7, 9, 7, 2, 0xffffffff}, {5, 6, 7, 8, 9}};
  const outcome expected = bench::peers::expected_join(build, probe);
  EXPECT_EQ(expected.rows, 7);
  EXPECT_EQ(expected, our_join(build, probe));
}

TEST(PeersReference, IsTheGroupByOfTheGeneratedTables) {
  for (const std::uint64_t distinct : {1, 10, 4000}) {
    const table input = bench::spread_keys(bench::foreign_keys(5000, {distinct, 1e-9}, 100, 1));
    const outcome expected = bench::peers::expected_groups(input);
    EXPECT_EQ(expected, our_groups(input)) << distinct;
    EXPECT_LE(expected.rows, distinct);
  }
  EXPECT_EQ(bench::peers::expected_groups({}), outcome{});
}

// A peer that returns a wrong row, one twice or one too few must be found.
TEST(PeersReference, TellsResultsApart) {
  const std::vector<join_data::match> right{{1, 2, 3}, {4, 5, 6}, {4, 5, 7}};
  const outcome expected = bench::peers::outcome_of(right);
  EXPECT_EQ(bench::peers::outcome_of<join_data::match>({right[2], right[0], right[1]}), expected);
  EXPECT_NE(bench::peers::outcome_of<join_data::match>({right[0], right[1]}), expected);
  EXPECT_NE(bench::peers::outcome_of<join_data::match>({right[0], right[1], right[1]}), expected);
  EXPECT_NE(bench::peers::outcome_of<join_data::match>({right[0], right[1], {4, 7, 5}}), expected);

  group_by_data::row_group group{};
  group.key = 1;
  group.count = 2;
  group.sum = 9;
  group.max = 5;
  group.min_complement = ~4u;
  const outcome one = bench::peers::outcome_of(std::vector{group});
  for (auto* part : {&group.key, &group.max, &group.min_complement}) {
    ++*part;
    EXPECT_NE(bench::peers::outcome_of(std::vector{group}), one);
    --*part;
  }
  for (auto* part : {&group.count, &group.sum}) {
    ++*part;
    EXPECT_NE(bench::peers::outcome_of(std::vector{group}), one);
    --*part;
  }
  EXPECT_EQ(bench::peers::outcome_of(std::vector{group}), one);
}

TEST(PeersReference, FindsAKeyForEmptyPlaces) {
  const table one{{UINT32_MAX, 3}, {0, 0}};
  const table two{{UINT32_MAX - 1}, {0}};
  EXPECT_EQ(bench::peers::unused_key({&two}), UINT32_MAX);
  EXPECT_EQ(bench::peers::unused_key({&one}), UINT32_MAX - 1);
  EXPECT_EQ(bench::peers::unused_key({&one, &two}), UINT32_MAX - 2);
}

}  // namespace
WARPHEAP_END_NAMESPACE
