// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Steps of the explorer that lanes make, in an order that has one of them after another.
std::uint64_t steps(simt::grid lanes, const auto& kernel) {
  const auto outcome =
      simt::explorer(lanes, 4'000'000).run({simt::strategy::uniform, 1}, [&] { kernel(); });
  EXPECT_EQ(outcome.stuck, "");
  return outcome.steps;
}

/// Of a request that gets null, while another lane does something all the time. The other lane
/// makes about half of them.
std::uint64_t steps_of_a_refusal(const auto& request, const auto& other) {
  std::uint32_t given_up = 0;
  return steps({2, 1}, [&] {
    const simt::atomic_ref done(given_up);
    if (simt::block_rank() == 0) {
      EXPECT_EQ(request(), nullptr);
      done.store(1, simt::order::relaxed);
      return;
    }
    // Ends: the other lane never waits, and the explorer gives each its turn.
    while (done.load(simt::order::relaxed) == 0) other();
  });
}

}  // namespace test
WARPHEAP_END_NAMESPACE
