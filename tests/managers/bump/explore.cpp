// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/bump/setups.hpp"

#include "warpheap/managers/bump/bump.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <bump_counters Counters>
registrar baseline() {
  using manager = bump<bump_config{.counters = Counters}>;
  return registrar{manager_subject(
      manager::about.name, small_bump<manager>(Counters == bump_counters::sharded ? 2 : 1))};
}

const registrar added[]{
    baseline<bump_counters::one>(),
    baseline<bump_counters::warp>(),
    baseline<bump_counters::sharded>(),
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
