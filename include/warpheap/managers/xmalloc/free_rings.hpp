// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The free Memoryblocks of XMalloc by size: a ring for each power of two of units. Everything is
/// plain access under the heap's lock (memoryblocks.hpp).
///
/// With one ring for all sizes, as in the paper, a search walks past every block that is too small:
/// a million blocks of 8 KiB took minutes in a heap that smaller classes had cut up
/// (docs/decisions/0041 and 0042).

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

/// Where the rings begin.
struct free_ring_heads {
  static constexpr int orders = 32;
  /// A bit for each ring that has blocks.
  std::uint32_t occupied;
  /// The block of a ring at which the next search begins.
  std::uint32_t first[orders];
};

/// \tparam Sizes a `geometry`
template <class Sizes>
class free_rings {
 public:
  WARPHEAP_HD free_rings(free_ring_heads& heads, std::byte* base) : heads_(&heads), base_(base) {}

  WARPHEAP_DEVICE void format() const {
    heads_->occupied = 0;
    for (std::uint32_t& first : heads_->first) first = none;
  }

  /// A block of at least `units`, which stays where it is; `none`: there is none. Looks at a few
  /// blocks of less than twice the size, then at one of each ring above, all of which are large
  /// enough, and only if there is none there at all blocks of less than twice the size.
  /// \param size_of the units of a free block
  template <class SizeOf>
  WARPHEAP_DEVICE std::uint32_t find(std::uint32_t units, const SizeOf& size_of) const {
    const int order = floor_log2(units);
    const std::uint32_t rings = heads_->occupied >> order;
    const bool has_near = (rings & 1u) != 0;
    const std::uint32_t near = has_near ? search(order, units, few_looks, size_of) : none;
    if (near != none) return near;
    const std::uint32_t above = rings & ~1u;
    if (above != 0) return heads_->first[order + lowest_bit(above)];
    return has_near ? search(order, units, all_looks, size_of) : none;
  }

  /// The block at which the next search of the ring of the largest blocks begins.
  WARPHEAP_DEVICE std::uint32_t large() const {
    return heads_->occupied == 0 ? none : heads_->first[highest_bit(heads_->occupied)];
  }

  /// Adds a block. The next search of its ring looks at it first.
  WARPHEAP_DEVICE void link(std::uint32_t unit, std::uint32_t units) const {
    const int order = floor_log2(units);
    std::uint32_t& first = heads_->first[order];
    if (first == none) {
      at(unit) = {unit, unit};
      heads_->occupied |= 1u << order;
    } else {
      const std::uint32_t prev = at(first).prev;
      at(unit) = {first, prev};
      at(prev).next = unit;
      at(first).prev = unit;
    }
    first = unit;
  }

  WARPHEAP_DEVICE void unlink(std::uint32_t unit, std::uint32_t units) const {
    const int order = floor_log2(units);
    std::uint32_t& first = heads_->first[order];
    const links around = at(unit);
    if (around.next == unit) {
      first = none;
      heads_->occupied &= ~(1u << order);
      return;
    }
    at(around.prev).next = around.next;
    at(around.next).prev = around.prev;
    if (first == unit) first = around.next;
  }

  /// A block has another size now.
  WARPHEAP_DEVICE void resize(std::uint32_t unit, std::uint32_t before, std::uint32_t now) const {
    if (floor_log2(before) == floor_log2(now)) return;
    unlink(unit, before);
    link(unit, now);
  }

  // Only while no lane allocates.

  WARPHEAP_DEVICE bool is_occupied(int order) const {
    return (heads_->occupied >> order & 1u) != 0;
  }
  WARPHEAP_DEVICE std::uint32_t first(int order) const { return heads_->first[order]; }
  WARPHEAP_DEVICE std::uint32_t next(std::uint32_t unit) const { return at(unit).next; }

 private:
  static constexpr std::uint32_t few_looks = 8;
  static constexpr std::uint32_t all_looks = ~0u;

  /// The first bytes of a free block.
  struct links {
    std::uint32_t next;
    std::uint32_t prev;
  };

  WARPHEAP_DEVICE links& at(std::uint32_t unit) const {
    return *reinterpret_cast<links*>(base_ + std::size_t{unit} * Sizes::unit +
                                     Sizes::memory_header);
  }

  /// A block of at least `units` among the next `looks` of a ring that has blocks. The next search
  /// goes on behind those that were too small.
  template <class SizeOf>
  WARPHEAP_DEVICE std::uint32_t search(int order, std::uint32_t units, std::uint32_t looks,
                                       const SizeOf& size_of) const {
    std::uint32_t& first = heads_->first[order];
    std::uint32_t unit = first;
    do {
      if (size_of(unit) >= units) {
        first = unit;
        return unit;
      }
      unit = at(unit).next;
    } while (unit != first && --looks != 0);
    first = unit;
    return none;
  }

  free_ring_heads* heads_;
  std::byte* base_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
