// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/gallatin/blocks.hpp"
#include "warpheap/managers/gallatin/segments.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// What a lane has hidden in the word of a run that it lost in the next one is there again for the
// lane that searches after it.
TEST(gallatin_segments, a_run_is_found_behind_a_claim_in_vain) {
  using geometry = gallatin_geometry<gallatin_config{}>;
  constexpr auto none = gallatin_segments<gallatin_config{}>::none;
  geometry shape(64_MiB, 2);
  shape.set_segments(128);
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const gallatin_segments<gallatin_config{}> segments(shape, cursor);
  std::uint32_t across = none;
  std::uint32_t found = none;
  bool was_busy = false;
  const auto lane = [&] {
    bool busy = false;
    switch (simt::block_rank()) {
      case 0:
        across = segments.acquire_run(4, busy);
        break;
      case 1:
        segments.free_segments().remove(62);
        break;
      default:
        found = segments.acquire_run(2, was_busy);
    }
  };
  simt::explorer three({3, 1}, 10'000);
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 4'000; ++seed) {
    segments.format(0, 1);
    segments.free_segments().format(0, 0, 1);
    for (std::uint32_t i = 62; i <= 65; ++i) segments.free_segments().insert(i);
    const simt::schedule order{simt::strategy::sticky, seed, simt::memory_model::weak};
    ASSERT_EQ(three.run(order, lane).stuck, "");
    if (across != none || was_busy) continue;
    ASSERT_NE(found, none) << seed;
    ++lost;
  }
  EXPECT_GT(lost, 200);
}

// A claim of a run that fails has hidden a segment for a while, and another lane took the rest of
// the run: the one that was put back was free all the time.
TEST(gallatin_blocks, are_obtainable_beside_a_claim_in_vain) {
  constexpr gallatin_config small{
      .segment_bytes = 512, .smallest_slice = 16, .largest_slice = 64, .least_segments = 1};
  gallatin_geometry<small> shape(64_KiB, 2);
  shape.set_segments(128);
  const rubbish memory(64_KiB);
  region_cursor cursor = memory.cursor();
  const gallatin_blocks<small> blocks(shape, cursor);
  const auto none = gallatin_segments<small>::none;
  const bitmap_tree free_segments = blocks.segments().free_segments();
  simt::explorer three({3, 1}, 10'000);
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 4'000; ++seed) {
    blocks.format(0, 1);
    free_segments.format(0, 0, 1);
    for (std::uint32_t i : {63u, 64u}) free_segments.insert(i);
    std::uint32_t across = none;
    bool obtainable = false;
    const auto lane = [&] {
      bool busy = false;
      switch (simt::block_rank()) {
        case 0:
          across = blocks.segments().acquire_run(2, busy);
          break;
        case 1:
          free_segments.remove(seed % 4 < 2 ? 63 : 64);
          break;
        default:
          obtainable = blocks.examine_obtainable(0);
      }
    };
    const simt::schedule order{seed % 2 == 0 ? simt::strategy::pct : simt::strategy::sticky, seed};
    ASSERT_EQ(three.run(order, lane).stuck, "");
    if (across != none) continue;
    ASSERT_TRUE(obtainable) << "seed " << seed;
    ++lost;
  }
  EXPECT_GT(lost, 200);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
