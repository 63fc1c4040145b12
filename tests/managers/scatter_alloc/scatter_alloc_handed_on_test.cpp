// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane gives up the reservations of all that free with it.
#include "any_schedule.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// Two lanes free the last chunks of a page together, and another one makes it a page of chunks of
// another size, whose mask no lane may then change that frees of the old ones.
TEST(scatter_handed_on, a_page_is_free_after_all_lanes_that_free_of_it_have_put_back_their_chunks) {
  const rubbish memory(4_KiB);
  const small all(memory.all(), machine().properties(), {});
  void* last[2] = {};
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    std::vector<void*> blocks;
    while (void* const block = all.malloc(64)) blocks.push_back(block);
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t i = 2; i < 4; ++i) all.free(blocks[i]);
    // The other lane's is the first one, which the page's next user takes.
    last[0] = blocks[1];
    last[1] = blocks[0];
  });
  const std::vector<std::byte> before = memory.contents();
  int reused = 0;
  simt::explorer warps({2, 2}, 100'000);
  for (std::uint64_t seed = 1; seed <= (WARPHEAP_TEST_SANITIZED ? 500 : 4000); ++seed) {
    std::copy(before.begin(), before.end(), memory.all().base);
    const auto outcome = warps.run(any_schedule(seed), [&] {
      const auto lane = static_cast<std::size_t>(simt::lane_id());
      if (simt::block_rank() == 1) {
        all.free(last[lane]);
      } else if (lane == 0) {
        for (int tries = 0; tries < 20; ++tries) {
          if (all.malloc(100) == nullptr) continue;
          ++reused;
          break;
        }
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    inspection found;
    machine().launch({1, 1}, [&] { all.inspect(0, 1, found); });
    for (const auto times : found.violations) ASSERT_EQ(times, 0u) << seed;
  }
  EXPECT_GT(reused, 100);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
