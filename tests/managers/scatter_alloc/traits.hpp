// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/traits.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <cstddef>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <scatter_config Config>
struct manager_traits<scatter_alloc<Config>> : default_traits<scatter_alloc<Config>> {
  // Runs start at hashed places, and where they happen to lie decides how many fit.
  static constexpr std::size_t refill_bytes = Config.page_bytes;

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    constexpr std::size_t pages = 100;
    static_assert(Config.page_bytes == 4096 && Config.region_pages == 16);
    const std::size_t heap_bytes = layout_bytes()
                                       .array(1, 4)               // active
                                       .array(1, 8)               // of one Super Block
                                       .array(pages / 16 + 1, 4)  // levels
                                       .array(1 + 128, 8)         // sizes that are out
                                       .array(1, 56)              // searches
                                       .array(3, 8)               // for which they saw room
                                       .array(1 + 128, 4)         // and where
                                       .trees(1, pages)
                                       .array(pages, 8)  // states
                                       .array(pages, 4)  // masks
                                       .then(pages * 4096, 256);
    // 254 chunks of 16 bytes and 8 masks fill a page, 63 of 64 bytes and 2 masks nearly. From 32
    // chunks on, the mask is in the table.
    return {{16, heap_bytes, pages * 254, 4096},
            {64, heap_bytes, pages * 63, 4096},
            {128, heap_bytes, pages * 32, 4096},
            {1024, heap_bytes, pages * 4, 4096},
            {4096, heap_bytes, pages, 4096}};
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
