// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The empty superblocks of kma.hpp: a queue for each group of multiprocessors. Lanes use their
/// own first, and then the others in turn: a queue serves one lane at a time, every few
/// microseconds on a GPU where thousands meet at its ends.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/kma/superblock_queue.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

class kma_free_lists {
 public:
  static constexpr std::uint32_t none = kma_queue::none;

  kma_free_lists() = default;
  /// \param lists not more than nodes
  kma_free_lists(region_cursor& cursor, std::uint32_t nodes, std::uint32_t lists)
      : ends_(cursor.take<kma_queue::ends>(lists)),
        links_(cursor.take<std::uint64_t>(nodes, 128)),
        nodes_(nodes),
        lists_(lists) {}

  WARPHEAP_HD std::uint32_t lists() const { return lists_; }
  WARPHEAP_DEVICE kma_queue list(std::uint32_t i) const { return kma_queue(&ends_[i], links_); }

  /// All nodes are free, dealt out to the lists.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t lanes) const {
    for (std::uint32_t i = 0; i < lists_; ++i) list(i).format(i, lists_, nodes_, rank, lanes);
  }

  WARPHEAP_DEVICE void put(std::uint32_t node, std::uint32_t multiprocessor) const {
    list(multiprocessor % lists_).enqueue(node);
  }
  /// A node, or none if each list had but its dummy when it was looked at.
  WARPHEAP_DEVICE std::uint32_t take(std::uint32_t multiprocessor) const {
    for (std::uint32_t i = 0; i < lists_; ++i) {
      const std::uint32_t node = list((multiprocessor + i) % lists_).dequeue();
      if (node != none) return node;
    }
    return none;
  }
  /// Whether `take` would have found none.
  WARPHEAP_DEVICE bool are_empty(std::uint32_t multiprocessor) const {
    for (std::uint32_t i = 0; i < lists_; ++i) {
      if (!list((multiprocessor + i) % lists_).is_empty()) return false;
    }
    return true;
  }

 private:
  kma_queue::ends* ends_ = nullptr;
  std::uint64_t* links_ = nullptr;
  std::uint32_t nodes_ = 0;
  std::uint32_t lists_ = 1;
};

WARPHEAP_END_NAMESPACE
