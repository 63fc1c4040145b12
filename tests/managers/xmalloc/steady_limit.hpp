// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// What was measured, and far too long: docs/decisions/0044 says why, and what should help.
template <xmalloc_config Config>
struct launch_limit<xmalloc<Config>> {
  static constexpr double ms = 20000;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
