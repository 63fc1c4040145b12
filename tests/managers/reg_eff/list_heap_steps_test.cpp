// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a malloc costs where all lanes begin to search at one offset: counted in switch points of
// the seam, so that no clock is needed.
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using one_offset = reg_eff<reg_eff_config{.offsets = memory_offsets::one, .header_words = 2}>;

/// Steps of a lane if so many take a block at once, on average over a few schedules.
double steps_of_each(std::uint32_t lanes, std::size_t bytes, std::size_t of) {
  const rubbish memory(of);
  const one_offset manager(memory.all(), machine_of(2, lanes), {});
  simt::explorer together({lanes, 1}, 4'000'000);
  constexpr int schedules = 10;
  double steps = 0;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    manager.format(0, 1);
    const auto run = together.run({simt::strategy::uniform, seed},
                                  [&] { EXPECT_NE(manager.malloc(bytes), nullptr); });
    EXPECT_EQ(run.stuck, "");
    steps += static_cast<double>(run.steps) / lanes / schedules;
  }
  return steps;
}

// A lane that loses a race goes on at random, the farther the more it has lost. If all stayed near
// the offset, 64 lanes would need more than twice as many steps each as 8.
TEST(reg_eff_steps, lanes_that_meet_spread) {
  for (const auto& [bytes, of] :
       {std::pair{1_KiB, 1_MiB}, std::pair{4_KiB, 4_MiB}, std::pair{4_KiB, 16_MiB}}) {
    EXPECT_LT(steps_of_each(64, bytes, of), 1.75 * steps_of_each(8, bytes, of)) << bytes;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
