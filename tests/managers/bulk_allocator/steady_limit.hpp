// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

#include "steady/launch_limit.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <bulk_allocator_config Config>
struct launch_limit<bulk_allocator<Config>> {
  static constexpr double ms = 450;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
