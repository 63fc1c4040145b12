// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "small_heap.hpp"

#include "warpheap/managers/xmalloc/xmalloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Superblocks of three Basicblocks of 64 or of 128 bytes, lists of two. Coalesced requests have a
/// piece or two.
using small_xmalloc = xmalloc<xmalloc_config{.smallest_block = 64,
                                             .classes = 2,
                                             .superblock_blocks = 3,
                                             .lists = 2,
                                             .list_blocks = 2,
                                             .coalesce_below = 40}>;

/// Blocks of both classes and Memoryblocks, none of them coalesced.
template <class M>
setup<M> single_requests() {
  return {.region_bytes = 12 * 1024, .sizes = {48, 112, 200}, .exact = false};
}

/// Blocks that share a parent, and those that do not.
template <class M>
setup<M> coalesced_requests() {
  return {.region_bytes = 12 * 1024, .sizes = {56, 16, 32, 112}, .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
