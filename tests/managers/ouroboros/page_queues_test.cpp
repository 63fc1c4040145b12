// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "any_schedule.hpp"
#include "small.hpp"

#include "warpheap/managers/ouroboros/page_queues.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using manager = tiny<item_kind::pages, queue_kind::static_array>;
class ouroboros_parked_pages : public tiny_heap<manager> {};

// A lane that is told of pages finds them at once: it does not wait for the lanes that free them.
TEST_F(ouroboros_parked_pages, are_there_when_they_are_counted) {
  const auto& map = manager_.map();
  const ouroboros_parts::page_queues<std::decay_t<decltype(map)>> queues(map);
  std::array<void*, 2> freed{};
  std::array<void*, 2> taken{};
  // One warp frees two pages of a chunk, for which the queue has no room; another one wants them.
  const auto lane = [&] {
    const std::uint32_t me = static_cast<std::uint32_t>(simt::lane_id());
    if (simt::block_rank() == 0) return manager_.free(freed[me]);
    while (!simt::warp().any(map.parked(0).any())) simt::backoff(1);
    std::uint32_t made = 0;
    queues.unpark(simt::warp(), 0, 0, 2, made, taken[me]);
  };
  simt::explorer two_warps({2, 2}, 2'000);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    run_alone([&] {
      manager_.format(0, 1);
      for (void*& block : freed) block = manager_.malloc(16);
      map.page_queue(0).room().take_up_to(1000);
    });
    ASSERT_EQ(two_warps.run({simt::strategy::pct, seed}, lane).stuck, "") << seed;
    for (void* const block : taken) ASSERT_NE(block, nullptr) << seed;
  }
}

// One lane counts for both that free pages of a chunk, of which one is parked already: so a lane
// that frees alone need not wait for another one to park the chunk.
TEST_F(ouroboros_parked_pages, are_there_for_a_lane_that_has_freed_one) {
  std::array<void*, 2> freed{};
  bool is_refused = false;
  const auto begin = [&] {
    run_alone([&] {
      manager_.format(0, 1);
      void* const parked = manager_.malloc(16);
      for (void*& block : freed) block = manager_.malloc(16);
      EXPECT_NE(manager_.malloc(16), nullptr);
      manager_.map().supply().left().take_up_to(10'000);
      EXPECT_EQ(manager_.malloc(16), nullptr);
      manager_.map().page_queue(0).room().take_up_to(1000);
      manager_.free(parked);
    });
  };
  const auto lane = [&] {
    const std::uint32_t me = static_cast<std::uint32_t>(simt::lane_id());
    manager_.free(freed[me]);
    if (me == 0) return;
    for (int page = 0; page < 2; ++page) {
      if (manager_.malloc(16) == nullptr) is_refused = true;
    }
  };
  simt::explorer warp({1, 2}, 20'000);
  expect_in_schedules(warp, WARPHEAP_TEST_SANITIZED ? 500 : 2000, begin, lane,
                      [&] { return is_refused; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
