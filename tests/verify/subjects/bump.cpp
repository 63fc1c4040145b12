// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"

#include "warpheap/managers/bump.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <bump_counters Counters>
setup<bump<bump_config{.counters = Counters}>> small_bump() {
  return {.region_bytes = 1280, .sizes = {16, 32, 24}};
}

const registrar one{manager_subject("bump", small_bump<bump_counters::one>())};
const registrar warp{manager_subject("bump_warp", small_bump<bump_counters::warp>())};
const registrar sharded{manager_subject("bump_sharded", small_bump<bump_counters::sharded>())};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
