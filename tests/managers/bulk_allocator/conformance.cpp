// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/bulk_allocator/bulk_allocator.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <bulk_allocator_config Config>
struct manager_traits<bulk_allocator<Config>> : default_traits<bulk_allocator<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // Chunks of 128 pages, four of which hold the tails of the others. Four chunks have one arena.
    constexpr std::size_t page = 4096;
    constexpr std::size_t chunk = 128 * page;
    constexpr std::size_t chunks = 4;
    constexpr std::size_t pages = chunks * 128;
    constexpr std::size_t bins = chunks * (128 - 4);
    const std::size_t heap_bytes = layout_bytes()
                                       .array(1, 8)      // words of reclaiming
                                       .trees(1, pages)  // slabs that are noted
                                       .array(10, 128)   // orders of the tree
                                       .trees(2, 2 * pages)
                                       .array(8, 128)        // lists of the arena
                                       .array(3 * pages, 4)  // states, links
                                       .then(pages * page, page);
    return {{16, heap_bytes, bins * (248 + 8), chunk}, {64, heap_bytes, bins * (62 + 2), chunk},
            {512, heap_bytes, bins * 7, chunk},        {1024, heap_bytes, bins * 3, chunk},
            {page, heap_bytes, pages, page},           {32 * page, heap_bytes, pages / 32, page}};
  }
};

using subjects = type_list<bulk_allocator<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
