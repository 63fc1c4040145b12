// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/simt/lane_mask.hpp"
#include "warpheap/core/random.hpp"

#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace warpheap::simt {
namespace {

TEST(lane_mask, agrees_with_a_set) {
  random_sequence random(5);
  for (int round = 0; round < 2000; ++round) {
    auto bits = static_cast<std::uint32_t>(random.next());
    if (round < 33) bits = low_bits<std::uint32_t>(round);
    const lane_mask mask(bits);
    std::vector<int> members;
    for (int lane = 0; lane < warp_size; ++lane) {
      if ((bits >> lane & 1u) != 0) members.push_back(lane);
      ASSERT_EQ(mask.contains(lane), (bits >> lane & 1u) != 0);
      ASSERT_EQ(mask.below(lane).bits(), bits & ((1ull << lane) - 1));
      ASSERT_EQ(mask.without(lane).bits(), bits & ~(1u << lane));
    }
    ASSERT_EQ(mask.count(), static_cast<int>(members.size()));
    ASSERT_EQ(mask.empty(), members.empty());
    if (!members.empty()) {
      ASSERT_EQ(mask.lowest(), members.front());
    }
    for (std::size_t k = 0; k < members.size(); ++k) {
      ASSERT_EQ(mask.nth(static_cast<int>(k)), members[k]);
    }
  }
}

TEST(lane_mask, set_operations) {
  const lane_mask a(0b1100);
  const lane_mask b(0b1010);
  EXPECT_EQ((a | b).bits(), 0b1110u);
  EXPECT_EQ((a & b).bits(), 0b1000u);
  EXPECT_EQ((a - b).bits(), 0b0100u);
  EXPECT_EQ(lane_mask::of(31).bits(), 0x80000000u);
  EXPECT_EQ(lane_mask::first(32).bits(), 0xffffffffu);
  EXPECT_EQ(lane_mask::first(0), lane_mask{});
}

}  // namespace
}  // namespace warpheap::simt
