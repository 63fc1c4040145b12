// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/kma/kma.hpp"

#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"

#include <algorithm>
#include <bit>

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

  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // One superblock is the queue's dummy.
    constexpr std::size_t superblocks = 20;
    static_assert(superblocks < Config.superblocks_per_queue);
    constexpr std::size_t superblock = Config.superblock_bytes;
    constexpr std::size_t least = Config.least_block;
    constexpr std::size_t slots = superblock / least;
    constexpr std::size_t classes = std::bit_width(slots);
    // A line of buckets for each multiprocessor, but for 32 at most, if there are enough of them.
    const std::size_t most_lines = std::clamp<std::size_t>(on.multiprocessors, 1, 32);
    const std::size_t lines =
        std::clamp<std::size_t>(superblocks / Config.superblocks_per_shard, 1, most_lines);
    const std::size_t heap_bytes = layout_bytes()
                                       .array(1, 8)                        // moves
                                       .array(1, 8)                        // occupied
                                       .array(2, 128)                      // the queue's ends
                                       .array(superblocks, 8)              // links
                                       .array(superblocks, 8 + slots / 8)  // states and bitmaps
                                       .trees(classes, superblocks)
                                       .array(lines * 16, 8)  // buckets
                                       .then(superblocks * superblock, 4096);
    std::vector<capacity> all;
    for (const std::size_t bytes : {least, 4 * least, superblock / 2, superblock}) {
      all.push_back({bytes, heap_bytes, (superblocks - 1) * (superblock / bytes), superblock});
    }
    return all;
  }
};
template <>
struct manager_traits<kma_of_large_superblocks>
    : manager_traits<kma_of_large_superblocks::manager> {
  // Few lanes meet at the buckets of one multiprocessor.
  static constexpr std::uint64_t most_churn_threads =
      default_traits<kma_of_large_superblocks>::most_churn_threads;
};

using subjects = configurations<type_list<kma<>>, type_list<kma_of_large_superblocks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
