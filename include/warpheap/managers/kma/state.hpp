// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The words of kma.hpp that lanes change by compare-exchange, and the arithmetic of sizes.

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct kma_config {
  /// A power of two, up to 64 KiB.
  std::uint32_t superblock_bytes = 4096;
  /// Of the smallest class; a power of two, 16 at least.
  std::uint32_t least_block = 16;
  /// Each multiprocessor has its own buckets in heaps with this many superblocks per
  /// multiprocessor.
  std::uint32_t superblocks_a_shard = 64;
};

/// Blocks of class c have `least_block << c` bytes.
template <kma_config Config>
struct kma_sizes {
  static constexpr std::uint32_t most_slots = Config.superblock_bytes / Config.least_block;
  static constexpr std::uint32_t classes = static_cast<std::uint32_t>(floor_log2(most_slots)) + 1;
  static constexpr std::uint32_t bit_words = (most_slots + 31) / 32;

  static_assert(is_power_of_two(Config.superblock_bytes) && is_power_of_two(Config.least_block) &&
                    Config.least_block >= 16 && Config.least_block <= Config.superblock_bytes &&
                    Config.superblock_bytes <= 65536,
                "kma_config: powers of two, 16 <= least_block <= superblock_bytes <= 65536");
  static_assert(Config.superblocks_a_shard != 0, "kma_config::superblocks_a_shard is 0");

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

enum class kma_mode : std::uint32_t {
  empty,     ///< all slots free, of no class: in the queue, or on its way there or from there
  attached,  ///< some slots free, in a bucket
  full,      ///< no slot free
  partial,   ///< some slots free, in the set of its class
};

/// The state of a superblock. `epoch` counts how often it was attached to a bucket, so a word that
/// was seen before cannot return with another meaning.
struct kma_state {
  std::uint32_t epoch;
  kma_mode mode;
  std::uint32_t of_class;
  /// The number of slots that no lane has reserved.
  std::uint32_t free;

  WARPHEAP_HD static constexpr kma_state of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<kma_mode>(word >> 24 & 0xff),
            static_cast<std::uint32_t>(word >> 16 & 0xff),
            static_cast<std::uint32_t>(word & 0xffff)};
  }
  WARPHEAP_HD constexpr std::uint64_t word() const {
    return std::uint64_t{epoch} << 32 | std::uint64_t{static_cast<std::uint32_t>(mode)} << 24 |
           std::uint64_t{of_class} << 16 | free;
  }
  /// After `count` slots were reserved, of a superblock that is or becomes attached.
  WARPHEAP_HD constexpr kma_state after_reserving(std::uint32_t count) const {
    return {epoch, free == count ? kma_mode::full : kma_mode::attached, of_class, free - count};
  }
};

/// The content of a bucket: the superblock that is attached to it, in the epoch that began then.
struct kma_bucket {
  static constexpr std::uint64_t none = 0;
  /// A lane is about to attach one.
  static constexpr std::uint64_t poison = ~std::uint64_t{0};

  std::uint32_t superblock;
  std::uint32_t epoch;

  /// \pre neither none nor poison
  WARPHEAP_HD static constexpr kma_bucket of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word) - 1, static_cast<std::uint32_t>(word >> 32)};
  }
  WARPHEAP_HD constexpr std::uint64_t word() const {
    return std::uint64_t{epoch} << 32 | (superblock + 1);
  }
};

/// Slots that lanes have reserved together; the superblock's bitmap determines which ones.
struct kma_grant {
  static constexpr std::uint32_t no_superblock = 0xffffffffu;

  std::uint32_t superblock = no_superblock;
  std::uint32_t count = 0;
  /// Where to look first: how many slots were taken before.
  std::uint32_t hint = 0;

  WARPHEAP_HD constexpr explicit operator bool() const { return count != 0; }
  WARPHEAP_HD static constexpr kma_grant of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word >> 16 & 0xffff),
            static_cast<std::uint32_t>(word & 0xffff)};
  }
  WARPHEAP_HD constexpr std::uint64_t word() const {
    return std::uint64_t{superblock} << 32 | std::uint64_t{count} << 16 | hint;
  }
};

WARPHEAP_END_NAMESPACE
