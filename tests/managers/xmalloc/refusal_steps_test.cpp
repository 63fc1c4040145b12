// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "full_heap.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// As if a lane moved blocks of the size all the time.
TEST(xmalloc_refusals, look_sixteen_times) {
  full_heap<xmalloc<>> heap(256_KiB, 64, 64);
  const std::uint64_t lone = heap.steps_of(1);
  EXPECT_LE(heap.steps_of(crowd), crowd * lone * 3 / 2);
  region_cursor cursor(heap.memory(), "the same");
  cursor.take<std::uint64_t>(1, 128);  // trims
  *cursor.take<std::uint64_t>(1, 128) += sync::moves::begins;
  const std::uint64_t spoilt = heap.steps_of(1);
  EXPECT_GE(spoilt, 14 * lone) << "a look is a little less than a whole request";
  EXPECT_LE(spoilt, 16 * lone);
  EXPECT_LE(heap.steps_of(crowd), crowd * spoilt);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
