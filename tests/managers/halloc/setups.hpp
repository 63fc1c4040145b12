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

/// Three slabs behind 10240 bytes, and sizes of three kinds of chunks, two of one kind.
template <class M>
setup<M> few_slabs() {
  constexpr int slab = 4096;
  return {.region_bytes = 10240 + 3 * slab,
          .sizes = {512, 1024, 768, 100},
          // 100 bytes are more than 96, and get 128.
          .holds = {3 * (slab / 512), 3 * (slab / 1024), 3 * (slab / 768), 3 * (slab / 128)},
          .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
