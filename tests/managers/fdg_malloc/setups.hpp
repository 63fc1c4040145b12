// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warp_heap_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// SuperBlocks of four granules: two or three blocks, or less than one. 52 of them behind 2560
/// bytes, or ten behind 896.
template <class M>
warp_heap_setup<M> small_fdg() {
  return {.roomy_bytes = 6144,
          .roomy_blocks = 52 * 4,
          .scarce_bytes = 1536,
          .scarce_blocks = 10 * 4,
          .sizes = {16, 40, 24, 100}};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
