// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane looks for all that ask with it. What each of them has freed is there for it.
#include "any_schedule.hpp"
#include "machine_of.hpp"
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

// All memory is in use but a Superblock, once its only block is freed. The lane that frees it asks
// together with a lane before it, which has seen nothing of that and looks for both.
TEST(xmalloc_handed_on, a_lane_that_looks_for_others_finds_what_they_have_freed) {
  constexpr std::size_t bytes = 3 * 64 - 16;
  const rubbish memory(12_KiB);
  const small all(memory.all(), machine_of(1), {});
  void* block = nullptr;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    block = all.malloc(112);
    while (all.malloc(bytes) != nullptr) {
    }
  });
  ASSERT_NE(block, nullptr);
  const std::vector<std::byte> full = memory.contents();
  std::uint32_t is_freed = 0;
  bool is_served = false;
  simt::explorer warp({1, 2}, 20'000);
  const auto begin = [&] {
    std::copy(full.begin(), full.end(), memory.all().base);
    is_freed = 0;
    is_served = false;
  };
  const auto lane = [&] {
    const simt::atomic_ref freed(is_freed);
    if (simt::lane_id() == 1) {
      all.free(block);
      freed.store(1, simt::order::relaxed);
    }
    while (freed.load(simt::order::relaxed) == 0) simt::backoff(1);
    if (all.malloc(bytes) != nullptr) is_served = true;
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(warp, schedules, begin, lane, [&] { return !is_served; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
