// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// XMalloc as small as the explorer and inspections want it.

#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Superblocks of four units, with three blocks of one unit each; the smallest have two.
inline constexpr xmalloc_config small_config{.smallest_block = 64,
                                             .classes = 2,
                                             .superblock_blocks = 3,
                                             .least_blocks = 2,
                                             .lists = 2,
                                             .list_blocks = 2,
                                             .coalesce_below = 40};
using small = xmalloc<small_config>;

/// The same with up to three zones of 32 units.
inline constexpr xmalloc_config zoned_config = [] {
  xmalloc_config how = small_config;
  how.zones = 3;
  how.zone_bytes = 32 * 64;
  return how;
}();
using zoned = xmalloc<zoned_config>;
/// Of a heap with three such zones, and 32 units in each.
inline constexpr std::size_t zoned_bytes = 12 * 1024 + 384;

}  // namespace test
WARPHEAP_END_NAMESPACE
