// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_heaps.hpp"

#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// They have less than 256 GiB.
TEST(xmalloc_of_large_heaps, large_blocks_leave_the_far_end_to_small_ones) {
  expect_small_blocks_at_the_far_end<xmalloc<>>({5, 70, 255});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
