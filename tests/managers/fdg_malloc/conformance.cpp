// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"

#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// SuperBlocks so small that most requests of a warp are runs.
class fdg_of_small_superblocks
    : public fdg_malloc<fdg_config{.least_superblock_bytes = 256, .most_superblock_bytes = 256}> {
 public:
  using manager =
      fdg_malloc<fdg_config{.least_superblock_bytes = 256, .most_superblock_bytes = 256}>;
  using manager::manager;
  static constexpr capabilities about = renamed(manager::about, "fdg_malloc_256");
};

template <fdg_config Config>
struct manager_traits<fdg_malloc<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // Less than eight of the smallest SuperBlocks for a warp, so there are no larger ones.
    constexpr std::size_t superblock = Config.least_superblock_bytes;
    const std::size_t superblocks = on.resident_threads / 32 * 4;
    const std::size_t heap_bytes = layout_bytes()
                                       .array(1, 64)  // exhaustion
                                       .trees(1, superblocks)
                                       .array(superblocks, 12)  // pieces
                                       .trees(1, superblocks)
                                       .array(superblocks, 32)  // headers
                                       .then(superblocks * superblock);
    return {{16, heap_bytes, superblocks * (superblock / 16), superblock},
            {superblock / 2, heap_bytes, superblocks * 2, superblock},
            {superblock, heap_bytes, superblocks, superblock},
            {superblock * (superblocks / 4), heap_bytes, 4, superblock}};
  }
};
template <>
struct manager_traits<fdg_of_small_superblocks>
    : manager_traits<fdg_of_small_superblocks::manager> {};

using subjects = configurations<type_list<fdg_malloc<>>, type_list<fdg_of_small_superblocks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
