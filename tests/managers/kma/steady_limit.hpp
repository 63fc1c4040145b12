// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/kma/kma.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <kma_config Config>
struct launch_limit<kma<Config>> {
  static constexpr double ms = 1000;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
