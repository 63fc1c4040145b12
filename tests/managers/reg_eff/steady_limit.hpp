// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Those with offsets per multiprocessor took the longest; the counters search nothing.
template <reg_eff_config Config>
requires(Config.has_list()) struct launch_limit<reg_eff<Config>> {
  static constexpr double ms = Config.offsets == memory_offsets::one ? 1600 : 3000;
};
/// Chunks merge only as far as requests need, so lanes that fill the heap at several places leave
/// pieces between them that are too short.
template <reg_eff_config Config>
requires(Config.has_list()) struct refill<reg_eff<Config>> {
  static constexpr std::uint64_t bytes = 112;
  static constexpr double share = 0.9;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
