// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/kma/kma.hpp"

#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Superblocks of which bitmaps have many words, and that each multiprocessor has buckets for.
class kma_of_large_superblocks
    : public kma<kma_config{.superblock_bytes = 65536, .superblocks_per_shard = 1}> {
 public:
  using manager = kma<kma_config{.superblock_bytes = 65536, .superblocks_per_shard = 1}>;
  using manager::manager;
  static constexpr capabilities about = renamed(manager::about, "kma_65536");
};

template <kma_config Config>
struct manager_traits<kma<Config>> : default_traits<kma<Config>> {
  // When all lanes met at one queue, a million of them had not finished after 171 s on an H200.
  // More lanes were not tried since there are several queues.
  static constexpr std::uint64_t most_churn_threads = std::uint64_t{1} << 16;

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // One superblock is the queue's dummy.
    constexpr std::size_t superblocks = 60;
    static_assert(Config.superblock_bytes == 4096 && superblocks < Config.superblocks_per_shard);
    const std::size_t heap_bytes = layout_bytes()
                                       .array(1, 8)                 // moves
                                       .array(1, 8)                 // occupied
                                       .array(2, 128)               // the queue's ends
                                       .array(superblocks, 8)       // links
                                       .array(superblocks, 8 + 32)  // states and bitmaps
                                       .array(9, 8 * 3)             // trees of 60 superblocks
                                       .array(16, 8)                // buckets
                                       .then(superblocks * 4096, 4096);
    std::vector<capacity> all;
    for (const std::size_t bytes : {16, 64, 2048, 4096}) {
      all.push_back({bytes, heap_bytes, (superblocks - 1) * (4096 / bytes), 4096});
    }
    return all;
  }
};

using subjects = configurations<type_list<kma<>>, type_list<kma_of_large_superblocks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
