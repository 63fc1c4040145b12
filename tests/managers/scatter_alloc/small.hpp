// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// ScatterAlloc as small as the explorer and inspections want it.

#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Pages of one level.
using small = scatter_alloc<scatter_config{.page_bytes = 256,
                                           .region_pages = 2,
                                           .super_blocks = 3,
                                           .least_block_pages = 4,
                                           .rejecting_level = 2,
                                           .probed_regions = 2}>;

/// Pages of two levels, whose segments have hints.
using two_levels = scatter_alloc<scatter_config{.page_bytes = 1024,
                                                .region_pages = 2,
                                                .super_blocks = 1,
                                                .least_block_pages = 2,
                                                .rejecting_level = 2,
                                                .probed_regions = 1}>;

}  // namespace test
WARPHEAP_END_NAMESPACE
