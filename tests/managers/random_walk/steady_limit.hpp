// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/random_walk/random_walk.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <rw_config Config, class Steps>
struct launch_limit<rw<Config, Steps>> {
  static constexpr double ms = 500;
};
template <rw_malloc_config Config>
struct launch_limit<rw_malloc<Config>> {
  static constexpr double ms = 1000;
};
/// Larger blocks are runs of units.
template <rw_malloc_config Config>
struct refill<rw_malloc<Config>> {
  static constexpr std::uint64_t bytes = Config.unit_bytes;
  static constexpr double share = 1;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
