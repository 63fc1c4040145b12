// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "managers/bulk_allocator/small.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

using test::small_pages;

/// Blocks of 16 and 32 bytes, and pages: this many fit behind 2816 bytes, or 2304.
template <class M>
setup<M> few_bins(std::size_t region_bytes = 8320, int pages = 43) {
  // Of each chunk. The header of a bin takes what its tail adds.
  constexpr int bins = 4 - 1;
  const int chunks = pages / 4;
  return {.region_bytes = region_bytes,
          .sizes = {32, 16, 100},
          .holds = {chunks * bins * (128 / 32), chunks * bins * (128 / 16), pages},
          .exact = false};
}

/// Nodes of the buddy tree alone: of one page, two and four. 15 pages behind 1664 bytes. Four
/// chunks have a second arena, for which there is no room.
template <class M>
setup<M> few_nodes() {
  constexpr int pages = 15;
  return {.region_bytes = 4224,
          .sizes = {100, 200, 400},
          .holds = {pages, pages / 2, pages / 4},
          .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
