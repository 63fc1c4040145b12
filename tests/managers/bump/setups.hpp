// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Room for what 24 requests of each size need, and no more than 80 blocks.
template <class M>
setup<M> small_bump(int counters = 1) {
  // What counters of 128 bytes leave, which two counters halve.
  const int room = 1280 - 128 * counters;
  return {.region_bytes = 1280, .sizes = {16, 32, 24}, .holds = {room / 16, room / 32, room / 32}};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
