// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The bulk allocator as small as the explorer and inspections want it.

#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Pages of 128 bytes, chunks of four, one of them special: bins of eight or four blocks, the last
/// ones in a tail.
inline constexpr bulk_allocator_config small_pages{.page_bytes = 128,
                                                   .header_bytes = 32,
                                                   .chunk_log2 = 2,
                                                   .smallest_block = 16,
                                                   .largest_small = 32,
                                                   .chunks_per_arena = 2};

}  // namespace test
WARPHEAP_END_NAMESPACE
