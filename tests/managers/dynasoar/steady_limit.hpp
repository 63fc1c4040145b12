// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/dynasoar/dynasoar.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <dynasoar_config Config>
struct launch_limit<dynasoar<Config>> {
  static constexpr double ms = 700;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
