// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What can be chosen about KMA, and the sizes that follow from it: plain arithmetic, the same on
/// host and device.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct kma_config {
  /// A power of two, up to 64 KiB.
  std::uint32_t superblock_bytes = 4096;
  /// The block size of the smallest class; a power of two, at least 16.
  std::uint32_t least_block = 16;
  /// Each multiprocessor has its own buckets in heaps with this many superblocks per
  /// multiprocessor.
  std::uint32_t superblocks_per_shard = 64;
  /// There is one queue of empty superblocks for this many of them, but at most one for each
  /// multiprocessor; each queue keeps one superblock. At least 2.
  std::uint32_t superblocks_per_queue = 256;
  /// A request gets null after this many looks that found nothing while superblocks were on their
  /// way, or after four to eight times as many that lost what they saw to others.
  std::uint32_t futile_looks = 8;
};

/// Blocks of class c have `least_block << c` bytes.
template <kma_config Config>
struct kma_sizes {
  static constexpr std::uint32_t most_slots = Config.superblock_bytes / Config.least_block;
  static constexpr std::uint32_t classes = static_cast<std::uint32_t>(floor_log2(most_slots)) + 1;
  static constexpr std::uint32_t bit_words = ceil_div(most_slots, 32u);

  static_assert(is_power_of_two(Config.superblock_bytes) && is_power_of_two(Config.least_block) &&
                    Config.least_block >= 16 && Config.least_block <= Config.superblock_bytes &&
                    Config.superblock_bytes <= 65536,
                "kma_config: powers of two, 16 <= least_block <= superblock_bytes <= 65536");
  static_assert(Config.superblocks_per_shard != 0, "kma_config::superblocks_per_shard is 0");
  static_assert(Config.superblocks_per_queue >= 2,
                "kma_config::superblocks_per_queue is less than 2");
  // A look costs 1 also if it finds two queues of which the bits are out of date, as half of 64 may
  // be: a lane that is alone must get beyond them.
  static_assert(Config.futile_looks >= 3, "kma_config::futile_looks is less than 3");

  /// \pre `0 < bytes && bytes <= superblock_bytes`
  WARPHEAP_HD static constexpr std::uint32_t class_for(std::size_t bytes) {
    const auto wanted = static_cast<std::uint32_t>(bytes);
    return wanted <= Config.least_block
               ? 0
               : static_cast<std::uint32_t>(ceil_log2(wanted) - floor_log2(Config.least_block));
  }
  WARPHEAP_HD static constexpr std::uint32_t block_bytes(std::uint32_t of_class) {
    return Config.least_block << of_class;
  }
  WARPHEAP_HD static constexpr std::uint32_t slots(std::uint32_t of_class) {
    return most_slots >> of_class;
  }
};

WARPHEAP_END_NAMESPACE
