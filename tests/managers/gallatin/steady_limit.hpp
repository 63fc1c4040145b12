// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/gallatin/gallatin.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <gallatin_config Config>
struct launch_limit<gallatin<Config>> {
  static constexpr double ms = 400;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
