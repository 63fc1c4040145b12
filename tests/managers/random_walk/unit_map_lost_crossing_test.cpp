// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/unit_map.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using map = random_walk::unit_map<32, 1, true>;

// A lane that holds the lower part of a run for a moment, and loses the upper one, does not make a
// searcher believe that the lower part is in use.
void expect_found(simt::memory_model memory_model, std::uint64_t schedules) {
  const rubbish memory(4_KiB);
  region_cursor cursor = memory.cursor();
  const map units(cursor, 64);
  region_cursor same = memory.cursor();  // as the map lays them out
  same.take<random_walk::shared_rounds>(1);
  auto* const used = same.take<std::uint32_t>(2);
  std::uint32_t across = 0;
  std::uint32_t found = 0;
  const auto lane = [&] {
    switch (simt::block_rank()) {
      case 0:
        across = units.take_runs(simt::warp(), 6);
        break;
      case 1:  // what that run needs behind the boundary
        simt::atomic_ref(used[1]).fetch_or(3, simt::order::acq_rel);
        break;
      default:
        found = units.search(simt::warp(), 4, random_walk::no_run);
    }
  };
  simt::explorer three({3, 1}, 10'000);
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    units.format(0, 1);
    used[0] = ~(15u << 28);
    used[1] = ~3u;
    ASSERT_EQ(three.run({simt::strategy::sticky, seed, memory_model}, lane).stuck, "");
    if (across != random_walk::no_run) continue;
    ASSERT_EQ(found, 28u) << seed;
    ++lost;
  }
  EXPECT_GT(lost, 1000);
}

TEST(unit_map, what_a_lost_claim_gives_back_is_not_missed) {
  expect_found(simt::memory_model::sequential, 25'000);
}

// The lane that clears the bits sees that there is a search. One of ten thousand schedules shows a
// lane that does not.
TEST(unit_map, what_a_lost_claim_gives_back_is_not_missed_in_weak_memory) {
  expect_found(simt::memory_model::weak, 60'000);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
