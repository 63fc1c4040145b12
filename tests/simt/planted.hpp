// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

inline constexpr auto sequential = simt::memory_model::sequential;
inline constexpr auto weak = simt::memory_model::weak;

/// Lanes of two warps run `Code`: `lane(rank)`. The first seed whose schedule is stuck, or after
/// which the code is not `is_sound()`; 0 if there is none.
template <class Code>
std::uint64_t first_finding(simt::strategy how, simt::memory_model memory) {
  constexpr std::uint64_t schedules = sanitized ? 2'000 : 20'000;
  simt::explorer explorer({2, 1}, 2000);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    Code code;
    const auto outcome =
        explorer.run({how, seed, memory}, [&code] { code.lane(simt::thread_rank()); });
    if (!outcome.stuck.empty() || !code.is_sound()) return seed;
  }
  return 0;
}

/// Each strategy finds something, or none does.
template <class Code>
void expect(simt::memory_model memory, bool found) {
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    EXPECT_EQ(first_finding<Code>(how, memory) != 0, found) << static_cast<int>(how);
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
