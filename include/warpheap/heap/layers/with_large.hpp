// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/heap/manager.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE

/// Requests up to the largest block of one manager are served by that one, larger ones by another,
/// as published allocators do that hand large requests to CUDA's:
///
///     heap<with_large<halloc<>, builtin>>             as published
///     heap<with_large<halloc<>, warpheap_manager<>>>  another manager
///     heap<halloc<>>                                  none: larger requests get null
///
/// Neither helps out when the other one is exhausted. Only what both can is offered. `checked` does
/// not take it if one of them has blocks that do not lie in a region.
///
/// Layout: [ region of Small ][ region of Large ], the second one `large_percent` of all. A manager
/// whose blocks do not lie in a region, as CUDA's, leaves all of it to the other one, and is told
/// that share as its size.
///
/// Invariants: I1 to I32 are those of both. The place of a violation does not say whose.
///
/// Progress: that of the manager which serves the request.
template <block_manager Small, block_manager Large>
class with_large {
  static_assert(!hears_failures<Small> && !hears_failures<Large>,
                "on_failure must be the outermost layer");
  static_assert(Small::about.uses_region, "blocks are told apart by the region of the small ones");

 public:
  struct options {
    typename Small::options small{};
    typename Large::options large{};
    /// The share of the heap for the large blocks: 1 to 99.
    unsigned large_percent = 50;
  };

  static constexpr capabilities about = [] {
    capabilities both = Small::about;
    both.largest_block = Large::about.largest_block;
    both.alignment = std::min(both.alignment, Large::about.alignment);
    both.frees = both.frees && Large::about.frees;
    // `unchecked` is what either makes of both; of the others, the weaker one comes first.
    both.reuse = std::max(both.reuse, Large::about.reuse) == memory_reuse::unchecked
                     ? memory_reuse::unchecked
                     : std::min(both.reuse, Large::about.reuse);
    both.growth = false;
    both.blocks_in_region = both.blocks_in_region && Large::about.blocks_in_region;
    both.resets = both.resets && Large::about.resets;
    return both;
  }();

  with_large(const region& memory, const simt::device_properties& machine, const options& settings)
      : small_begin_(memory.base),
        small_bytes_(bytes_of_small(memory, settings)),
        small_({memory.base, small_bytes_}, machine, settings.small),
        large_(region_of_large(memory, settings), machine, settings.large) {}

  WARPHEAP_HD std::size_t largest_block() const {
    const std::size_t small = small_.largest_block();
    const std::size_t large = large_.largest_block();
    return small < large ? large : small;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    small_.format(rank, count);
    large_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    return bytes <= small_.largest_block() ? small_.malloc(bytes) : large_.malloc(bytes);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    if (is_small(block)) {
      small_.free(block);
    } else {
      large_.free(block);
    }
  }

  WARPHEAP_DEVICE std::size_t usable_size(void* block) const requires measures_blocks<Small> &&
      measures_blocks<Large> {
    return is_small(block) ? small_.usable_size(block) : large_.usable_size(block);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    small_.inspect(rank, count, findings);
    large_.inspect(rank, count, findings);
  }

 private:
  static std::size_t bytes_of_small(const region& memory, const options& settings) {
    if (settings.large_percent < 1 || settings.large_percent > 99) {
      throw invalid_argument(std::string(about.name) + ": " +
                             std::to_string(settings.large_percent) +
                             " % of the heap for large blocks; 1 to 99 are possible");
    }
    if constexpr (!Large::about.uses_region) return memory.bytes;
    return memory.bytes - bytes_of_large(memory, settings);
  }
  static std::size_t bytes_of_large(const region& memory, const options& settings) {
    const std::size_t hundredths = memory.bytes / 100 * settings.large_percent;
    return hundredths / boundary * boundary;
  }
  static region region_of_large(const region& memory, const options& settings) {
    const std::size_t bytes = bytes_of_large(memory, settings);
    return {memory.base + (memory.bytes - bytes), bytes};
  }

  /// What regions are aligned to at least.
  static constexpr std::size_t boundary = 256;

  WARPHEAP_DEVICE bool is_small(const void* block) const {
    const auto offset =
        static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - small_begin_);
    return offset < small_bytes_;
  }

  std::byte* small_begin_;
  std::size_t small_bytes_;
  Small small_;
  Large large_;
};

WARPHEAP_END_NAMESPACE
