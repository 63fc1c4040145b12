// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What requests cost that cannot be served.
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap with the slots of a large machine, which blocks of 4 KiB fill.
class exhausted_gallatin : public ::testing::Test {
 protected:
  exhausted_gallatin() {
    steps([this] {
      all_.format(0, 1);
      while (void* const block = all_.malloc(4096)) blocks_.push_back(block);
    });
    EXPECT_GT(blocks_.size(), 1000u);
  }

  std::uint64_t steps(const auto& kernel) {
    const auto outcome =
        simt::explorer({1, 1}, 4'000'000).run({simt::strategy::sticky, 1}, [&] { kernel(); });
    EXPECT_EQ(outcome.stuck, "");
    return outcome.steps;
  }
  std::uint64_t steps_of_a_refusal(std::size_t bytes) {
    return steps([&] { EXPECT_EQ(all_.malloc(bytes), nullptr); });
  }

  static simt::device_properties large_machine() {
    simt::device_properties properties;
    properties.multiprocessors = 132;
    return properties;
  }

  rubbish memory_{16_MiB};
  gallatin<> all_{memory_.all(), large_machine(), {}};
  std::vector<void*> blocks_;
};

constexpr std::uint64_t few = 40;

TEST_F(exhausted_gallatin, one_search_serves_all_requests_that_follow) {
  // It looks at the slots that units have, which are a few of those that there is room for.
  std::uint64_t slots = 0;
  for (std::uint32_t unit = 0; unit < 16; ++unit) slots += all_.shape().slots(unit);
  constexpr std::uint64_t places = 132 * 16;
  steps_of_a_refusal(64);
  EXPECT_LT(steps_of_a_refusal(64), few);
  for (const std::size_t bytes : {256, 100'000}) {
    const std::uint64_t search = steps_of_a_refusal(bytes);
    EXPECT_GT(search, slots);
    EXPECT_LT(search, places);
    EXPECT_LT(steps_of_a_refusal(bytes), few);
  }
}

TEST_F(exhausted_gallatin, what_comes_back_to_a_used_block_is_no_reason_to_search) {
  steps_of_a_refusal(64);
  steps([this] {
    for (std::size_t i = 0; i < blocks_.size(); i += 2) all_.free(blocks_[i]);
  });
  EXPECT_LT(steps_of_a_refusal(64), few);
}

TEST_F(exhausted_gallatin, a_block_that_has_come_back_is_found) {
  steps_of_a_refusal(64);
  steps_of_a_refusal(4096);
  steps([this] {
    for (void* const block : blocks_) all_.free(block);
    EXPECT_NE(all_.malloc(64), nullptr);
    EXPECT_NE(all_.malloc(4096), nullptr);
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
