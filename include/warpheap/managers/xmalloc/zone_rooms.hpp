// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a lane can tell of XMalloc's zones without their locks: how large a free Memoryblock may
/// be, and how much is free on both sides of the borders.
///
/// The words of a zone change under its lock alone. All accesses are relaxed: a lane that has
/// acquired a free has acquired what was written here before it. If nothing is freed meanwhile, all
/// of these numbers only fall, so a lane that reads them one after the other misses nothing that is
/// free when it has read the last one.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/zones.hpp"
#include "warpheap/simt/simt.hpp"

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
        none_from_(cursor.take<std::uint32_t>(std::size_t{3} * slots_, 128)) {}

  /// One free Memoryblock in each zone.
  WARPHEAP_DEVICE void format(const division& by, std::uint32_t zone) const {
    set_none_from(zone, by.size(zone) + 1);
    set_head(zone, by.size(zone));
    set_tail(zone, by.size(zone));
  }

  /// Whether no Memoryblock of `units` is free in a zone.
  WARPHEAP_DEVICE bool is_out(std::uint32_t zone, std::uint32_t units) const {
    return units >= word(zone).load(simt::order::relaxed);
  }
  /// No free Memoryblock of the zone has that many units.
  WARPHEAP_DEVICE void set_none_from(std::uint32_t zone, std::uint32_t units) const {
    word(zone).store(units, simt::order::relaxed);
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
  WARPHEAP_DEVICE void set_head(std::uint32_t zone, std::uint32_t units) const {
    word(slots_ + zone).store(units, simt::order::relaxed);
  }
  WARPHEAP_DEVICE void set_tail(std::uint32_t zone, std::uint32_t units) const {
    word(2 * slots_ + zone).store(units, simt::order::relaxed);
  }

  /// Whether no zone has a free Memoryblock of `units`.
  WARPHEAP_DEVICE bool is_out_in_each(const division& by, std::uint32_t units) const {
    for (std::uint32_t zone = 0; zone < by.count(); ++zone) {
      if (!is_out(zone, units)) return false;
    }
    return true;
  }

  /// The first neighbouring zones in which `units` in a row are free, but in none of them alone; if
  /// there are none, `first` is `none`.
  WARPHEAP_DEVICE row_of_zones find_row(const division& by, std::uint32_t units) const {
    std::uint32_t first = 0;
    std::uint32_t in_a_row = tail(0);
    for (std::uint32_t zone = 1; zone < by.count(); ++zone) {
      const std::uint32_t front = head(zone);
      if (in_a_row != 0 && in_a_row < units && front >= units - in_a_row) {
        return {first, zone};
      }
      if (front == by.size(zone)) {
        if (in_a_row == 0) first = zone;
        in_a_row += front;
      } else {
        first = zone;
        in_a_row = tail(zone);
      }
    }
    return {none, none};
  }

 private:
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> word(std::uint32_t number) const {
    return simt::atomic_ref<std::uint32_t>(none_from_[number]);
  }

  std::uint32_t slots_ = 1;
  /// [ none from: u32 for each zone | heads | tails ]
  std::uint32_t* none_from_ = nullptr;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
