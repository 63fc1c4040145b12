// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

#include "warpheap/managers/warpheap/warpheap.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Chunks of 256 bytes, words of three slots, fewer than a group has lanes.
inline constexpr warpheap_config small_chunks{
    .smallest_chunk = 256, .largest_chunk = 256, .word_slots = 3, .lenient_visits = 1};

/// Eight chunks or so, and sizes that are slots of one class, of another, and large blocks.
template <class M>
setup<M> few_chunks() {
  return {.region_bytes = 12 * 1024, .sizes = {60, 16, 128, 256}, .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
