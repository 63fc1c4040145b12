// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warp_heap_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// SuperBlocks of four granules: two or three blocks, or less than one. Some 40 of them, or 7.
template <class M>
warp_heap_setup<M> small_fdg() {
  return {.roomy_bytes = 6144, .scarce_bytes = 1536, .sizes = {16, 40, 24, 100}};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
