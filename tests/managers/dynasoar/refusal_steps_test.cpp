// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "full_heap.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// As if a lane moved something all the time.
TEST(dynasoar_refusals, look_sixty_four_times) {
  full_heap<dynasoar<>> heap(32_KiB, 16, 512);
  const std::uint64_t lone = expect_no_more_in_a_crowd(heap);
  const auto same = dynasoar_blocks<dynasoar<>::shape>::lay_out(
      heap.memory(), "the same", [](region_cursor&, std::uint32_t) {});
  in_a_lane([&] { same.state().announce(); });
  const std::uint64_t spoilt = heap.steps_of(1);
  EXPECT_GE(spoilt, 64u);
  EXPECT_LE(spoilt, 64 * lone);
  EXPECT_LE(heap.steps_of(crowd), crowd * spoilt);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
