// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Room for what 24 requests of each size need, and no more than 80 blocks.
template <class M>
setup<M> small_bump() {
  return {.region_bytes = 1280, .sizes = {16, 32, 24}};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
