// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Steps of the explorer that lanes make, in an order that has one of them after another.
std::uint64_t steps(simt::grid lanes, const auto& kernel, std::uint64_t seed = 1) {
  const auto outcome =
      simt::explorer(lanes, 4'000'000).run({simt::strategy::uniform, seed}, [&] { kernel(); });
  EXPECT_EQ(outcome.stuck, "");
  return outcome.steps;
}

/// Of a request that gets null, while `others` other lanes do something all the time. Each of them
/// makes about as many as the request.
std::uint64_t steps_of_a_refusal(const auto& request, const auto& other, std::uint32_t others = 1,
                                 std::uint64_t seed = 1) {
  std::uint32_t given_up = 0;
  const auto kernel = [&] {
    const simt::atomic_ref done(given_up);
    if (simt::block_rank() == 0) {
      EXPECT_EQ(request(), nullptr);
      done.store(1, simt::order::relaxed);
      return;
    }
    // Ends: that lane never waits for these, and the explorer gives each its turn.
    while (done.load(simt::order::relaxed) == 0) other();
  };
  return steps({1 + others, 1}, kernel, seed);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
