// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "refill.hpp"

#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/random_walk.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(refill, reports_a_block_that_is_missing) {
  using manager = rw_malloc<>;
  const heap<manager> memory(machine(), 1_MiB);
  const filling full = fill_and_empty(machine(), memory, 200);
  EXPECT_GT(full.blocks, 1_MiB / 256 * 9 / 10);
  EXPECT_EQ(full.corrupted, 0u);
  EXPECT_EQ(wrong_with<manager>(fill_and_empty(machine(), memory, 200), full), "");
  EXPECT_NE(take_one(memory, 256), nullptr);
  const filling now = fill_and_empty(machine(), memory, 200);
  EXPECT_EQ(now.blocks, full.blocks - 1);
  EXPECT_NE(wrong_with<manager>(now, full).find(std::to_string(now.blocks)), std::string::npos);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
