// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The free Memoryblocks of a zone by size: four rings for each power of two of units. Everything
/// is plain access under the zone's lock (zone_list.hpp).
///
/// With one ring for all sizes, as in the paper, a search walks past every block that is too small:
/// a million blocks of 8 KiB took minutes in a heap that smaller classes had cut up
/// (docs/decisions/0041 and 0042). With one for each power of two, requests of many sizes that are
/// refused still walk past all blocks of less than twice their size (0046).

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

/// Where the rings begin. Those of a power of two are of equal ranges.
struct free_ring_heads {
  static constexpr int rings_log2 = 2;
  static constexpr int rings = 32 << rings_log2;
  /// A bit for each ring that has blocks.
  std::uint64_t occupied[rings / 64];
  /// The block of a ring at which the next search begins.
  std::uint32_t first[rings];
};

/// \tparam Sizes a `geometry`
template <class Sizes>
class free_rings {
 public:
  WARPHEAP_HD free_rings(free_ring_heads& heads, std::byte* base) : heads_(&heads), base_(base) {}

  WARPHEAP_DEVICE void format() const {
    for (std::uint64_t& occupied : heads_->occupied) occupied = 0;
    for (std::uint32_t& first : heads_->first) first = none;
  }

  /// A block of at least `units`, which stays where it is; `none`: there is none. Looks at a few
  /// blocks of its own ring, then at one of the next ring above, all of which are large enough, and
  /// only if there is none there at all blocks of its own ring.
  /// \param size_of the units of a free block
  template <class SizeOf>
  WARPHEAP_DEVICE std::uint32_t find(std::uint32_t units, const SizeOf& size_of) const {
    const int ring = ring_of(units);
    const bool has_near = is_occupied(ring);
    const std::uint32_t near = has_near ? search(ring, units, few_looks, size_of) : none;
    if (near != none) return near;
    const int above = occupied_from(ring + 1);
    if (above != free_ring_heads::rings) return heads_->first[above];
    return has_near ? search(ring, units, all_looks, size_of) : none;
  }

  /// The block at which the next search of the ring of the largest blocks begins.
  WARPHEAP_DEVICE std::uint32_t large() const {
    for (int word = free_ring_heads::rings / 64; word-- != 0;) {
      const std::uint64_t occupied = heads_->occupied[word];
      if (occupied != 0) return heads_->first[64 * word + highest_bit(occupied)];
    }
    return none;
  }

  /// No block has that many units: the least size of the ring above the largest blocks.
  WARPHEAP_DEVICE std::uint32_t none_from() const {
    for (int word = free_ring_heads::rings / 64; word-- != 0;) {
      const std::uint64_t occupied = heads_->occupied[word];
      if (occupied != 0) return least_of(64 * word + highest_bit(occupied) + 1);
    }
    return 1;
  }

  /// Adds a block. The next search of its ring looks at it first.
  WARPHEAP_DEVICE void link(std::uint32_t unit, std::uint32_t units) const {
    const int ring = ring_of(units);
    std::uint32_t& first = heads_->first[ring];
    if (first == none) {
      at(unit) = {unit, unit};
      heads_->occupied[ring / 64] |= bit_of(ring);
    } else {
      const std::uint32_t prev = at(first).prev;
      at(unit) = {first, prev};
      at(prev).next = unit;
      at(first).prev = unit;
    }
    first = unit;
  }

  WARPHEAP_DEVICE void unlink(std::uint32_t unit, std::uint32_t units) const {
    const int ring = ring_of(units);
    std::uint32_t& first = heads_->first[ring];
    const links around = at(unit);
    if (around.next == unit) {
      first = none;
      heads_->occupied[ring / 64] &= ~bit_of(ring);
      return;
    }
    at(around.prev).next = around.next;
    at(around.next).prev = around.prev;
    if (first == unit) first = around.next;
  }

  /// A block has another size now.
  WARPHEAP_DEVICE void resize(std::uint32_t unit, std::uint32_t before, std::uint32_t now) const {
    if (ring_of(before) == ring_of(now)) return;
    unlink(unit, before);
    link(unit, now);
  }

  /// The number of the ring of blocks of `units`.
  WARPHEAP_HD static constexpr int ring_of(std::uint32_t units) {
    const int order = floor_log2(units);
    const auto part =
        static_cast<int>(std::uint64_t{units} << free_ring_heads::rings_log2 >> order);
    return (order << free_ring_heads::rings_log2) + part - (1 << free_ring_heads::rings_log2);
  }
  /// The smallest size of blocks of a ring, or of a later one if it can have none.
  WARPHEAP_HD static constexpr std::uint32_t least_of(int ring) {
    constexpr int parts = 1 << free_ring_heads::rings_log2;
    const auto quarters = static_cast<std::uint64_t>(parts + ring % parts) << ring / parts;
    const std::uint64_t units = (quarters + parts - 1) >> free_ring_heads::rings_log2;
    return units < none ? static_cast<std::uint32_t>(units) : none;
  }
  WARPHEAP_DEVICE bool is_occupied(int ring) const {
    return (heads_->occupied[ring / 64] & bit_of(ring)) != 0;
  }

  // Only while no lane allocates.

  WARPHEAP_DEVICE std::uint32_t first(int ring) const { return heads_->first[ring]; }
  WARPHEAP_DEVICE std::uint32_t next(std::uint32_t unit) const { return at(unit).next; }

 private:
  static constexpr std::uint32_t few_looks = 8;
  static constexpr std::uint32_t all_looks = ~0u;

  /// The first bytes of a free block.
  struct links {
    std::uint32_t next;
    std::uint32_t prev;
  };

  WARPHEAP_HD static constexpr std::uint64_t bit_of(int ring) {
    return std::uint64_t{1} << ring % 64;
  }
  /// The first ring from `ring` on that has blocks, or the number of rings.
  WARPHEAP_DEVICE int occupied_from(int ring) const {
    while (ring < free_ring_heads::rings) {
      const std::uint64_t occupied = heads_->occupied[ring / 64] >> ring % 64;
      if (occupied != 0) return ring + lowest_bit(occupied);
      ring = (ring / 64 + 1) * 64;
    }
    return free_ring_heads::rings;
  }

  WARPHEAP_DEVICE links& at(std::uint32_t unit) const {
    return *reinterpret_cast<links*>(base_ + std::size_t{unit} * Sizes::unit +
                                     Sizes::memory_header);
  }

  /// A block of at least `units` among the next `looks` of a ring that has blocks. The next search
  /// goes on behind those that were too small.
  template <class SizeOf>
  WARPHEAP_DEVICE std::uint32_t search(int ring, std::uint32_t units, std::uint32_t looks,
                                       const SizeOf& size_of) const {
    std::uint32_t& first = heads_->first[ring];
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
