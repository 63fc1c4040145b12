// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane opens a warp heap for all that begin with it.
#include "any_schedule.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// There is one header, which comes back after the only SuperBlock. So a lane that shares a new warp
// heap finds that one free, whichever lane has opened the warp heap.
TEST(fdg_handed_on, a_warp_heap_comes_with_what_the_last_one_has_freed) {
  using manager = fdg_malloc<>;
  const rubbish memory(2_KiB);
  const manager all(memory.all(), machine_of(1), {});
  ASSERT_EQ(all.superblocks(), 1u);
  manager::warp_heap held;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    held = all.begin(simt::coalesced(nullptr));
    ASSERT_NE(all.malloc(held, all.largest_block()), nullptr);
  });
  const std::vector<std::byte> before = memory.contents();
  int asked = 0;
  simt::explorer warps({2, 2}, 100'000);
  bool is_refused = false;
  const auto begin = [&] { std::copy(before.begin(), before.end(), memory.all().base); };
  const auto lane = [&] {
    if (simt::block_rank() == 1) {
      if (simt::lane_id() == 0) all.end(held);
      return;
    }
    for (int tries = 0; tries < 20; ++tries) {
      const simt::group lanes = simt::coalesced(nullptr);
      const manager::warp_heap mine = all.begin(lanes);
      if (!mine) continue;
      if (lanes.size() == 2 && lanes.rank() == 1) {
        ++asked;
        is_refused = all.malloc(mine, 16) == nullptr;
      }
      break;
    }
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(warps, schedules, begin, lane, [&] { return is_refused; });
  EXPECT_GT(asked, 100);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
