// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "full_heap.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/halloc/halloc.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// Each of its rounds is spoilt, beside a lane that finds one of many short places at once.
TEST(halloc_refusals, search_eight_times) {
  full_heap<halloc<>> heap(1_MiB, 16, 128);
  expect_no_more_in_a_crowd(heap);
  heap.give(100, 5000);
  const std::uint64_t lone = heap.steps_of(1);
  heap.give(20000, 1);
  const std::uint64_t beside = heap.steps_beside(16);
  EXPECT_GT(beside, 2 * lone) << "nothing was spoilt";
  EXPECT_LE(beside, 2 * (8 + 1) * lone);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
