// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/traits.hpp"
#include "warpheap/managers/halloc/halloc.hpp"

#include <cstddef>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <halloc_config Config>
struct manager_traits<halloc<Config>> : default_traits<halloc<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // The smallest slabs, all of which may become one size's: no head in reserve.
    constexpr std::size_t slab = 256 * 1024;
    constexpr std::size_t slabs = 6;
    const std::size_t heap_bytes = layout_bytes()
                                       .array(slabs, 8)
                                       .array(4, 128)                // shortages
                                       .array(37, 128)               // trees
                                       .array(slabs, slab / 16 / 8)  // bits
                                       .array(slabs, slab / 16 / 2)  // lengths
                                       .array(16, 256)               // heads
                                       .array(1, 80)                 // a copy of the handle
                                       .then(slabs * slab, 256);
    // Blocks of 1 to 8 chunks of 16 or 24 bytes; those of 48 bytes are looked for in pairs.
    return {{16, heap_bytes, slabs * 16384, slab},
            {48, heap_bytes, slabs * 5460, slab},
            {128, heap_bytes, slabs * 2048, slab},
            {2048, heap_bytes, slabs * 128, slab},
            {3072, heap_bytes, slabs * 85, slab}};
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
