// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Schedules of each strategy that a small case is explored in.
inline constexpr std::uint64_t usual_schedules = sanitized ? 1'000 : 20'000;

/// Runs `world.lane()` in every lane of `shape`, in `schedules` orders of each strategy, each from
/// the state after `world.reset(seed)`, and fails with strategy and seed of the first one after
/// which `world.verdict()` is not empty or lanes are stuck.
template <class World>
void explore(World&& world, const simt::grid& shape, std::uint64_t schedules = usual_schedules) {
  simt::explorer explorer(shape, 50'000);
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
      world.reset(seed);
      const auto outcome = explorer.run({how, seed}, [&world] { world.lane(); });
      const std::string wrong = outcome.stuck.empty() ? world.verdict() : outcome.stuck;
      ASSERT_EQ(wrong, "") << "strategy " << static_cast<int>(how) << ", seed " << seed;
    }
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
