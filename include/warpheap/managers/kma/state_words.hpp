// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The words of kma.hpp that lanes change by compare-exchange.

#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

enum class kma_mode : std::uint32_t {
  empty,     ///< all slots free, of no class: in the queue, or on its way there or from there
  attached,  ///< some slots free, in a bucket
  full,      ///< no slot free
  partial,   ///< some slots free, in the set of its class, or on its way there
};

/// The state of a superblock. `epoch` counts how often lanes took it from a set or a queue, so a
/// word that was seen before cannot return with another meaning.
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
  /// After `count` slots were reserved.
  WARPHEAP_HD constexpr kma_state after_reserving(std::uint32_t count) const {
    return {epoch, free == count ? kma_mode::full : mode, of_class, free - count};
  }
};

/// The content of a bucket: the superblock that is attached to it, in the epoch that began then.
struct kma_bucket {
  static constexpr std::uint64_t none = 0;
  /// A lane is about to attach one.
  static constexpr std::uint64_t poison = ~std::uint64_t{0};

  std::uint32_t superblock;
  std::uint32_t epoch;

  /// \pre `word` is neither none nor poison
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
