// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A schedule of each strategy in turn, in either memory: ThreadSanitizer has to see it as it is.
inline simt::schedule any_schedule(std::uint64_t seed) {
  constexpr simt::strategy ways[]{simt::strategy::sticky, simt::strategy::uniform,
                                  simt::strategy::pct};
  return {ways[seed % 3], seed,
          race_checked || seed / 3 % 2 == 0 ? simt::memory_model::sequential
                                            : simt::memory_model::weak};
}

/// The same in sequentially consistent memory.
inline simt::schedule any_sequential_schedule(std::uint64_t seed) {
  simt::schedule how = any_schedule(seed);
  how.memory = simt::memory_model::sequential;
  return how;
}
/// Those with priorities alone, in weak memory where `any_schedule` has it.
inline simt::schedule weak_schedule_with_priorities(std::uint64_t seed) {
  return any_schedule(seed * 6 - 1);
}

/// Runs `lane` in `count` schedules, each after `begin`, and expects that all lanes end and that
/// nothing is `wrong` then. The message has the seed of the first that is.
void expect_in_schedules(simt::explorer& lanes, std::uint64_t count, const auto& begin,
                         const auto& lane, const auto& wrong,
                         simt::schedule (*schedule_of)(std::uint64_t) = any_schedule) {
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    begin();
    ASSERT_EQ(lanes.run(schedule_of(seed), lane).stuck, "") << seed;
    ASSERT_FALSE(wrong()) << seed;
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
