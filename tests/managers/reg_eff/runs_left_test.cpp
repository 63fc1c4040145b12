// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What searches of all chunks know by the rounds that have ended.
#include "warpheap/managers/reg_eff/runs_left.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using reg_eff_parts::operations;
using reg_eff_parts::runs_left;

TEST(reg_eff_runs_left, are_those_of_the_last_round) {
  operations::shard progress{};
  operations::proof exhausted{};
  const operations of_heap(&progress, 1, &exhausted);
  runs_left known;
  known.format(of_heap);
  known.begin_round();
  known.note({.longest = 9, .count = 3, .wanted = 7});
  known.note({.longest = 5, .count = 1, .wanted = 5});
  known.end_round();
  EXPECT_EQ(known.left(), 9u);
  EXPECT_EQ(known.count(), 4u);
  EXPECT_EQ(known.wanted(), 7u);
  known.begin_round();
  known.note({.longest = 2, .count = 2, .wanted = 1});
  EXPECT_EQ(known.count(), 4u) << "the round has not ended";
  known.end_round();
  EXPECT_EQ(known.left(), 2u);
  EXPECT_EQ(known.count(), 2u);
  EXPECT_EQ(known.wanted(), 1u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
