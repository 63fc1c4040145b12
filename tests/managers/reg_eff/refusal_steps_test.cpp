// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What requests cost that cannot be served, by steps of the explorer.
#include "refusal_steps.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr std::size_t granule = 16;
using one_offset = reg_eff<reg_eff_config{.presplit_bytes = 0}>;

class reg_eff_refusal : public ::testing::Test {
 protected:
  rubbish memory_{256_KiB};
  one_offset all_{memory_.all(), machine_of(1), {}};
};

// A search looks at each granule of the longest run, if a request needs as many, so that it knows
// how long it is; else it would take it to be long enough, and try again and again.
TEST_F(reg_eff_refusal, one_search_tells_that_a_run_is_too_short_however_long_it_is) {
  constexpr std::size_t run = 6000;
  steps({1, 1}, [this] {
    all_.format(0, 1);
    void* const block = all_.malloc(run * granule);
    while (all_.malloc(granule) != nullptr) {
    }
    all_.free(block);
  });
  const std::uint64_t taken =
      steps({1, 1}, [this] { EXPECT_EQ(all_.malloc((run + 100) * granule), nullptr); });
  EXPECT_LT(taken, 50'000u);
}

// Each of its searches is spoilt, and has seen enough runs, all of them too short.
TEST_F(reg_eff_refusal, gives_up_beside_a_lane_that_always_frees_if_there_are_many_short_runs) {
  steps({1, 1}, [this] {
    all_.format(0, 1);
    std::vector<void*> blocks;
    while (void* const block = all_.malloc(8)) blocks.push_back(block);
    ASSERT_GT(blocks.size(), 2u * 2 * 2048);
    for (std::size_t i = 0; i < blocks.size(); i += 2) all_.free(blocks[i]);
  });
  const std::uint64_t taken = steps_of_a_refusal([this] { return all_.malloc(100); },
                                                 [this] {
                                                   void* const block = all_.malloc(8);
                                                   if (block != nullptr) all_.free(block);
                                                 });
  EXPECT_LT(taken, 400'000u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
