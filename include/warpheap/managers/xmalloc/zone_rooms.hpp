// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a lane can tell of XMalloc's zones without their locks: how large a free Memoryblock may
/// be, and how much is free on both sides of the borders.
///
/// Most requests of an exhausted heap ask all zones in vain. So the ring of the largest block that
/// a zone may have is also a byte of a word, which tells it of eight zones at once, and a bit of a
/// word says whether a zone begins, or ends, with a free block.
///
/// What is said of a zone changes under its lock alone. All accesses are relaxed: a lane that has
/// acquired a free has acquired what was written here before it. If nothing is freed meanwhile, all
/// of these numbers only fall, so a lane that reads them one after the other misses nothing that is
/// free when it has read the last one.

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/free_rings.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/zones.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
class zone_rooms {
 public:
  using division = zones<Config>;

  /// Zones from whose borders so many units in a row are free.
  struct row_of_zones {
    std::uint32_t first;
    std::uint32_t last;
  };

  zone_rooms() = default;
  zone_rooms(region_cursor& cursor, std::uint32_t units)
      : slots_(division::most_of(units)),
        shared_(cursor.take<std::uint64_t>(largest + (slots_ + 7) / 8, 128)),
        words_(cursor.take<std::uint32_t>(std::size_t{3} * slots_)) {}

  /// One free Memoryblock in each zone. The lane of the first one of eight formats what they share.
  WARPHEAP_DEVICE void format(const division& by, std::uint32_t zone) const {
    words_[zone] = by.size(zone) + 1;
    words_[slots_ + zone] = by.size(zone);
    words_[2 * slots_ + zone] = by.size(zone);
    if (zone % 8 != 0) return;
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < 8 && zone + i < by.count(); ++i) {
      bytes |= std::uint64_t{rings_below(by.size(zone + i) + 1)} << 8 * i;
    }
    shared_[largest + zone / 8] = bytes;
    if (zone == 0) shared_[fronts] = shared_[backs] = all(by);
  }

  /// Whether no Memoryblock of `units` is free in a zone.
  WARPHEAP_DEVICE bool is_out(std::uint32_t zone, std::uint32_t units) const {
    return units >= word(zone).load(simt::order::relaxed);
  }
  /// No free Memoryblock of the zone has that many units. \pre the zone is locked
  WARPHEAP_DEVICE void set_none_from(std::uint32_t zone, std::uint32_t units) const {
    const std::uint64_t before = rings_below(word(zone).load(simt::order::relaxed));
    const std::uint64_t now = rings_below(units);
    word(zone).store(units, simt::order::relaxed);
    if (before == now) return;
    shared(largest + zone / 8).fetch_add((now - before) << zone % 8 * 8, simt::order::relaxed);
  }

  /// Units of the free Memoryblock with which a zone begins; 0: it begins with another one, or in
  /// the middle of one.
  WARPHEAP_DEVICE std::uint32_t head(std::uint32_t zone) const {
    return word(slots_ + zone).load(simt::order::relaxed);
  }
  /// Units of the free Memoryblock with which a zone ends, or 0.
  WARPHEAP_DEVICE std::uint32_t tail(std::uint32_t zone) const {
    return word(2 * slots_ + zone).load(simt::order::relaxed);
  }
  /// \pre the zone is locked
  WARPHEAP_DEVICE void set_head(std::uint32_t zone, std::uint32_t units) const {
    set_edge(slots_ + zone, fronts, zone, units);
  }
  /// \pre the zone is locked
  WARPHEAP_DEVICE void set_tail(std::uint32_t zone, std::uint32_t units) const {
    set_edge(2 * slots_ + zone, backs, zone, units);
  }

  /// A bit for each zone that may have `units`: all that have, and some of those that have nearly
  /// as much.
  WARPHEAP_DEVICE std::uint64_t candidates(const division& by, std::uint32_t units) const {
    constexpr std::uint64_t each = 0x0101010101010101u;
    // A byte is at most 128 minus its ring: its highest bit is set if it is beyond that of `units`.
    const std::uint64_t add = each * (rings::rings - 1 - ring_of(units));
    std::uint64_t found = 0;
    for (std::uint32_t zone = 0; zone < by.count(); zone += 8) {
      const std::uint64_t bytes = shared(largest + zone / 8).load(simt::order::relaxed);
      // The highest bit of byte i becomes bit 56 + i, and nothing else gets there.
      const std::uint64_t beyond = (bytes + add) >> 7 & each;
      found |= (beyond * 0x0102040810204080u >> 56) << zone;
    }
    return found;
  }
  /// Whether no zone has a free Memoryblock of `units`.
  WARPHEAP_DEVICE bool is_out_in_each(const division& by, std::uint32_t units) const {
    for (std::uint64_t left = candidates(by, units); left != 0; left &= left - 1) {
      if (!is_out(static_cast<std::uint32_t>(lowest_bit(left)), units)) return false;
    }
    return true;
  }

  /// The first neighbouring zones in which `units` in a row are free, but in none of them alone; if
  /// there are none, `first` is `none`.
  WARPHEAP_DEVICE row_of_zones find_row(const division& by, std::uint32_t units) const {
    const std::uint64_t open =
        shared(fronts).load(simt::order::relaxed) >> 1 & shared(backs).load(simt::order::relaxed);
    for (std::uint64_t left = open; left != 0; left &= left - 1) {
      const auto border = static_cast<std::uint32_t>(lowest_bit(left));
      std::uint32_t first = border;
      std::uint32_t in_a_row = tail(first);
      // If all of a zone is free, the row began before it.
      if (in_a_row == by.size(first) && first != 0 && (open >> (first - 1) & 1) != 0) continue;
      for (std::uint32_t zone = border + 1; zone < by.count() && in_a_row < units; ++zone) {
        const std::uint32_t front = head(zone);
        if (in_a_row != 0 && front >= units - in_a_row) return {first, zone};
        if (front != by.size(zone)) break;
        if (in_a_row == 0) first = zone;  // others have taken what was before it
        in_a_row += front;
      }
    }
    return {none, none};
  }

  // Only while no lane allocates.

  /// Whether what zones share says the same of one as its own words do.
  WARPHEAP_DEVICE bool agrees(std::uint32_t zone) const {
    const std::uint64_t byte = shared_[largest + zone / 8] >> zone % 8 * 8 & 0xffu;
    return byte == rings_below(words_[zone]) &&
           (shared_[fronts] >> zone & 1) == (head(zone) != 0) &&
           (shared_[backs] >> zone & 1) == (tail(zone) != 0);
  }

 private:
  using rings = free_ring_heads;

  /// In `shared_`: bits of the zones that begin, and of those that end, with a free block; then
  /// bytes, of eight zones a word.
  static constexpr std::uint32_t fronts = 0;
  static constexpr std::uint32_t backs = 1;
  static constexpr std::uint32_t largest = 2;

  WARPHEAP_HD static constexpr std::uint32_t ring_of(std::uint32_t units) {
    return static_cast<std::uint32_t>(free_rings<geometry<Config>>::ring_of(units));
  }
  /// Rings up to that of the largest block of less than `units`; 0: there is none.
  WARPHEAP_HD static constexpr std::uint32_t rings_below(std::uint32_t units) {
    return units <= 1 ? 0 : ring_of(units - 1) + 1;
  }
  WARPHEAP_HD static constexpr std::uint64_t all(const division& by) {
    return low_bits<std::uint64_t>(static_cast<int>(by.count()));
  }

  WARPHEAP_DEVICE void set_edge(std::uint32_t number, std::uint32_t bits, std::uint32_t zone,
                                std::uint32_t units) const {
    const bool was_open = word(number).load(simt::order::relaxed) != 0;
    word(number).store(units, simt::order::relaxed);
    if (was_open == (units != 0)) return;
    const std::uint64_t bit = std::uint64_t{1} << zone;
    if (was_open) {
      shared(bits).fetch_and(~bit, simt::order::relaxed);
    } else {
      shared(bits).fetch_or(bit, simt::order::relaxed);
    }
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> word(std::uint32_t number) const {
    return simt::atomic_ref<std::uint32_t>(words_[number]);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> shared(std::uint32_t number) const {
    return simt::atomic_ref<std::uint64_t>(shared_[number]);
  }

  std::uint32_t slots_ = 1;
  std::uint64_t* shared_ = nullptr;
  /// [ none from: u32 for each zone | heads | tails ]
  std::uint32_t* words_ = nullptr;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
