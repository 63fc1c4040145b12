// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <xmalloc_config Config>
struct manager_traits<xmalloc<Config>> : default_traits<xmalloc<Config>> {
  // Larger blocks are Memoryblocks. A lane takes those without a collective, so that lanes of the
  // CPU model follow each other, and never want more than a nearly full heap has.
  static constexpr std::size_t refill_bytes = 4096;

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    static_assert(Config.classes == 5 && Config.superblock_blocks == 32 &&
                  Config.least_blocks == 4 && Config.lists == 4);
    const auto bytes_for = [](std::size_t units) {
      return layout_bytes()
          .array(1, 8)                    // trims
          .array(5 * 4 + 5, 512)          // FIFOs: counts and ends
          .array(5 * 4 * 4 + 2048, 8)     // their slots
          .array(5, 128)                  // moves
          .array(1, 4 + 2 * 8 + 128 * 4)  // lock, rings of the only zone
          .array(1, 3 * 8 + 3 * 4)        // what is known of it without its lock
          .then(units * 64 + 8);
    };
    // Memoryblocks of 16 KiB with their headers.
    constexpr std::size_t large = 16384 - 16;
    // 8 KiB a Basicblock, and a unit for the headers of their Superblock.
    constexpr std::size_t superblock_units = 32 * 128 + 1;
    return {{large, bytes_for(100 * 256), 100, large},
            {8192 - 8, bytes_for(4 * superblock_units), 4 * 32, 8192}};
  }
};

using subjects = type_list<xmalloc<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
