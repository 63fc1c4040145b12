// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

#include "warpheap/managers/halloc/halloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Slabs of eight blocks of 512 bytes, and walks that do not visit all of them. A slab with up to
/// two such blocks is sparse.
inline constexpr halloc_config small_slabs{
    .largest_slab = 4096, .smallest_slab = 4096, .slabs = 1, .sparse = 250, .probes = 4};

/// Three slabs, and sizes of three kinds of chunks, two of one kind.
template <class M>
setup<M> few_slabs() {
  return {.region_bytes = 22 * 1024, .sizes = {512, 1024, 768, 100}, .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
