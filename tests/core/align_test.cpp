// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/align.hpp"

#include "warpheap/core/units.hpp"

#include <gtest/gtest.h>
#include <cstdint>

namespace warpheap {
namespace {

TEST(align, agrees_with_its_definition) {
  for (std::uint32_t step = 1; step <= 70; ++step) {
    for (std::uint32_t value = 0; value <= 300; ++value) {
      std::uint32_t up = 0;
      while (up < value) up += step;
      ASSERT_EQ(round_up(value, step), up) << value << " to " << step;
      ASSERT_EQ(ceil_div(value, step), up / step) << value << " by " << step;
      const std::uint32_t down = up == value ? up : up - step;
      ASSERT_EQ(round_down(value, step), down) << value << " to " << step;
    }
  }
}

TEST(align, reaches_the_end_of_the_type) {
  EXPECT_EQ(ceil_div<std::uint64_t>(UINT64_MAX, 1), UINT64_MAX);
  EXPECT_EQ(ceil_div<std::uint64_t>(UINT64_MAX, UINT64_MAX), 1u);
  EXPECT_EQ(ceil_div<std::uint8_t>(255, 2), 128u);
  EXPECT_EQ(round_up<std::uint64_t>(UINT64_MAX - 14, 16), UINT64_MAX - 15 + 16);
  EXPECT_EQ(round_down<std::uint64_t>(UINT64_MAX, 16), UINT64_MAX - 15);
}

TEST(units, are_binary) {
  EXPECT_EQ(3_KiB, 3072u);
  EXPECT_EQ(2_MiB, 2u * 1024 * 1024);
  EXPECT_EQ(5_GiB, 5ull * 1024 * 1024 * 1024);
}

}  // namespace
}  // namespace warpheap
