// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/bump/bump.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using subjects = type_list<bump<bump_config{.counters = bump_counters::one}>,
                           bump<bump_config{.counters = bump_counters::warp}>,
                           bump<bump_config{.counters = bump_counters::sharded}>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
