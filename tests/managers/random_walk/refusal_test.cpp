// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What requests cost that cannot be served, by steps of the explorer.
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap of single free units: every second one is in use.
class no_two_units_together : public ::testing::Test {
 protected:
  no_two_units_together() {
    steps({1, 1}, [this] {
      all_.format(0, 1);
      std::vector<void*> blocks;
      while (void* const block = all_.malloc(unit)) blocks.push_back(block);
      std::sort(blocks.begin(), blocks.end());
      for (std::size_t i = 0; i < blocks.size(); i += 2) all_.free(blocks[i]);
    });
  }

  std::uint64_t steps(simt::grid lanes, const auto& kernel) {
    const auto outcome =
        simt::explorer(lanes, 4'000'000).run({simt::strategy::uniform, 1}, [&] { kernel(); });
    EXPECT_EQ(outcome.stuck, "");
    return outcome.steps;
  }

  static constexpr std::size_t unit = 256;
  rubbish memory_{256_KiB};
  rw_malloc<> all_{memory_.all(), simt::device_properties{}, {}};
};

// Each of its searches is spoilt: something has become free meanwhile, though never two units.
TEST_F(no_two_units_together, a_request_gives_up_beside_a_lane_that_always_frees) {
  std::uint32_t given_up = 0;
  const std::uint64_t taken = steps({2, 1}, [&] {
    const simt::atomic_ref done(given_up);
    if (simt::block_rank() == 0) {
      EXPECT_EQ(all_.malloc(2 * unit), nullptr);
      done.store(1, simt::order::relaxed);
      return;
    }
    while (done.load(simt::order::relaxed) == 0) {
      if (void* const block = all_.malloc(unit)) all_.free(block);
    }
  });
  constexpr std::uint64_t a_few_searches = 5000;
  EXPECT_LT(taken, a_few_searches);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
