// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/halloc/halloc.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <halloc_config Config>
struct launch_limit<halloc<Config>> {
  static constexpr double ms = 800;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
