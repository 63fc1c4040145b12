// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Three times what was measured with zones: docs/decisions/0055.
template <xmalloc_config Config>
struct launch_limit<xmalloc<Config>> {
  static constexpr double ms = 1000;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
