// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <scatter_config Config>
struct launch_limit<scatter_alloc<Config>> {
  static constexpr double ms = 1500;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
