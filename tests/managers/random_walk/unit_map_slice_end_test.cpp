// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Searches are cut into slices of 128 words.
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/inspection.hpp"
#include "warpheap/managers/random_walk/unit_map.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using map = random_walk::unit_map<32, 1, true>;

/// A map whose units are all in use, and its words.
class unit_map_slices : public ::testing::Test {
 protected:
  static constexpr std::uint32_t words = 200;
  static constexpr std::uint32_t next_slice = 128;

  unit_map_slices() {
    units.format(0, 1);
    // As the map lays them out.
    region_cursor same = memory.cursor();
    same.take<random_walk::shared_rounds>(1);
    used = same.take<std::uint32_t>(words);
    same.take<std::uint32_t>(words);
    crossing = same.take<std::uint32_t>(ceil_div(words, 32u));
    std::fill_n(used, words, ~0u);
  }

  rubbish memory{16_KiB};
  region_cursor cursor = memory.cursor();
  map units{cursor, words * 32};
  std::uint32_t* used;
  std::uint32_t* crossing;
};

TEST_F(unit_map_slices, a_run_across_two_of_them_is_found) {
  used[next_slice - 1] = ~0u >> 3;
  used[next_slice] = ~3u;
  std::uint32_t found = random_walk::no_run;
  const auto search = [&] {
    found = units.search(simt::coalesced(nullptr), 5, random_walk::no_run);
  };
  EXPECT_EQ(simt::explorer({1, 1}, 10'000).run({simt::strategy::sticky, 1}, search).stuck, "");
  EXPECT_EQ(found, next_slice * 32 - 3);
}

// A lane has no word where its team's share reaches beyond the slice, though a run that begins in
// the next slice's first word is being claimed at that moment.
TEST_F(unit_map_slices, a_lane_beyond_the_slice_takes_nothing) {
  std::uint32_t found = random_walk::no_run;
  const auto search_beside_claim = [&] {
    if (simt::block_rank() == 1) {  // the claim, which ends after the first slice
      if (simt::lane_id() != 0) return;
      for (int i = 0; i < 100; ++i) simt::backoff(1);
      simt::atomic_ref(crossing[next_slice / 32]).store(0, simt::order::release);
      return;
    }
    const bool wants = simt::lane_id() == 0;
    const std::uint32_t run = units.search(simt::warp(), wants ? 5 : 0, random_walk::no_run);
    if (wants) found = run;
  };
  // With three lanes, the last one's share ends behind the slice.
  simt::explorer three_lanes({2, 3}, 10'000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    used[next_slice] = 0;
    crossing[next_slice / 32] = 1;
    EXPECT_EQ(three_lanes.run({simt::strategy::sticky, seed}, search_beside_claim).stuck, "");
    EXPECT_EQ(found, next_slice * 32) << seed;
  }
}

// It goes on in the next word, or it would have a mark.
TEST_F(unit_map_slices, a_run_that_ends_with_a_word_has_a_mark) {
  const random_walk::unit_inspector inspector(units);
  used[0] = 1u << 31;
  inspection found;
  inspector.inspect(0, found);
  EXPECT_EQ(found.violations[2], 0u);
  used[1] = 0;
  inspector.inspect(0, found);
  EXPECT_EQ(found.violations[2], 1u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
