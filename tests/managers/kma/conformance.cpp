// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/kma/kma.hpp"

#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Superblocks of which bitmaps have many words, and that each multiprocessor has buckets for.
class kma_of_large_superblocks
    : public kma<kma_config{.superblock_bytes = 65536, .superblocks_a_shard = 1}> {
 public:
  using manager = kma<kma_config{.superblock_bytes = 65536, .superblocks_a_shard = 1}>;
  using manager::manager;
  static constexpr capabilities about = renamed(manager::about, "kma_65536");
};

using subjects = configurations<type_list<kma<>>, type_list<kma_of_large_superblocks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
