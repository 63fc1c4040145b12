// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/gallatin/gallatin.hpp"

#include "steady/launch_limit.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <gallatin_config Config>
struct launch_limit<gallatin<Config>> {
  static constexpr double ms = 400;
};
/// A block that waits in a slot may lack units that were used and given back
/// (gallatin_exhaustion_device_test shows it): in a heap of 15 blocks, at most 63 of 960 units, and
/// less of a larger one, whose slots have at most a sixteenth of the heap.
template <gallatin_config Config>
struct refill<gallatin<Config>> {
  static constexpr std::uint64_t bytes = 4096;
  static constexpr double share = 1 - 63.0 / 960;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
