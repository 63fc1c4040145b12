// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/heap/manager.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Two managers in one heap: `Small` for what it can serve, `Large` for larger blocks and for what
/// `Small` has no memory left for. For a default that has a largest block, where callers expect
/// blocks of any size.
///
/// Layout: [ the region of Small: half ][ the region of Large ]. A block's address tells free which
/// of them it came from. An invariant's number and place are those of the manager that it belongs
/// to; a violation of either counts.
///
/// Progress: that of both; neither waits for the other.
template <any_size_manager Small, any_size_manager Large>
requires std::same_as<typename Small::options, no_options> &&
    std::same_as<typename Large::options, no_options>
class by_size {
 public:
  using options = no_options;

  static constexpr capabilities about = [] {
    capabilities both = Small::about;
    both.largest_block = Large::about.largest_block;
    if (Large::about.alignment < both.alignment) both.alignment = Large::about.alignment;
    both.frees = both.frees && Large::about.frees;
    if (Large::about.reuse != memory_reuse::all) both.reuse = Large::about.reuse;
    return both;
  }();

  by_size(const region& memory, const simt::device_properties& machine, const options& none)
      : small_({memory.base, front(memory)}, machine, none),
        large_({memory.base + front(memory), memory.bytes - front(memory)}, machine, none),
        first_large_(memory.base + front(memory)) {}

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
    if (bytes <= small_.largest_block()) {
      void* block = small_.malloc(bytes);
      if (block != nullptr || bytes > large_.largest_block()) return block;
    }
    return large_.malloc(bytes);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    if (static_cast<std::byte*>(block) < first_large_) {
      small_.free(block);
    } else {
      large_.free(block);
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    small_.inspect(rank, count, findings);
    large_.inspect(rank, count, findings);
  }

 private:
  static constexpr std::size_t page = 4096;
  static std::size_t front(const region& memory) { return memory.bytes / 2 / page * page; }

  Small small_;
  Large large_;
  std::byte* first_large_;
};

WARPHEAP_END_NAMESPACE
