// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Fixed pages: their numbers, their addresses, and how many fit into a heap.

#include "warpheap/core/divisor.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// No page, where the number of a page is expected.
inline constexpr std::uint32_t no_page = 0xffffffffu;

/// What a program chooses when it creates a heap of fixed pages.
struct page_options {
  /// Bytes of a page: a multiple of 16.
  std::size_t page_bytes = 256;
};

/// The pages of a heap: numbers, addresses, and nothing about which are free.
class page_pool {
 public:
  page_pool() = default;
  /// Takes `count` pages out of `cursor`.
  page_pool(region_cursor& cursor, std::uint32_t count, const page_options& settings)
      : base_(cursor.take<std::byte>(count * settings.page_bytes, alignment)),
        count_(count),
        granules_(static_cast<std::uint32_t>(settings.page_bytes / granule)),
        by_granules_(granules_) {}

  /// A bound on the number of pages for which a heap of `heap_bytes` has room, at least 1. \pre
  /// `check`
  static std::uint32_t most_pages(const page_options& settings, std::size_t heap_bytes) {
    const std::size_t most = heap_bytes / settings.page_bytes;
    if (most < 1) return 1;
    // The largest heap has a page too many for 32 bits, but no room for all of them.
    return most < no_page ? static_cast<std::uint32_t>(most) : no_page;
  }

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_HD std::size_t page_bytes() const { return std::size_t{granules_} * granule; }

  WARPHEAP_DEVICE void* address(std::uint32_t page) const {
    return base_ + std::size_t{page} * granules_ * granule;
  }

  /// Whether `block` lies among the pages. Null does not.
  WARPHEAP_DEVICE bool holds(const void* block) const {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(base_);
    return offset < std::size_t{count_} * page_bytes();
  }

  /// The number of the page that starts at `block`. \pre `holds(block)`
  WARPHEAP_DEVICE std::uint32_t number(const void* block) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(block) - base_);
    return by_granules_.quotient(static_cast<std::uint32_t>(offset / granule));
  }

  /// \throws invalid_argument unless pages of this size can be numbered in a heap of `heap_bytes`
  static void check(const char* owner, const page_options& settings, std::size_t heap_bytes) {
    const auto refuse = [&](const std::string& why) {
      throw invalid_argument(std::string(owner) + ": " + why);
    };
    if (settings.page_bytes == 0 || settings.page_bytes % granule != 0) {
      refuse("pages of " + std::to_string(settings.page_bytes) +
             " bytes; a multiple of 16 is needed");
    }
    const auto limit = [&](const std::string& what, std::size_t bytes) {
      if (bytes <= largest_heap) return;
      refuse(what + " of " + std::to_string(bytes) + " bytes; at most " +
             std::to_string(largest_heap) + " can be numbered in steps of 16 bytes");
    };
    limit("a heap", heap_bytes);
    limit("pages", settings.page_bytes);
  }

 private:
  static constexpr std::size_t granule = 16;
  static constexpr std::size_t alignment = 256;
  // Offsets are divided as 32-bit numbers of granules.
  static constexpr std::size_t largest_heap = granule << 32;

  std::byte* base_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t granules_ = 1;
  divisor by_granules_;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
