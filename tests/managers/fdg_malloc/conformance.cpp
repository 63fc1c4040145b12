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

using subjects = configurations<type_list<fdg_malloc<>>, type_list<fdg_of_small_superblocks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
