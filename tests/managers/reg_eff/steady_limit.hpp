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

}  // namespace test
WARPHEAP_END_NAMESPACE
