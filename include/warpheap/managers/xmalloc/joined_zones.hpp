// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Memoryblocks that lie across borders of XMalloc's zones: the free end of one zone, all of those
/// behind it, and the free front of the last one.
///
/// Such a block belongs to the list of the zone in which it begins, as its last block. The zones
/// behind it are without what it covers: their first block, if any, is the one behind it. When it
/// is freed, each zone gets its part back as a block of its own.
///
/// Progress: blocking. A lane that takes such a block locks the zones in ascending order, and a
/// lane that frees one locks one zone at a time; all others hold one lock at a time. So of those
/// that wait for each other, the one at the highest zone waits for none of them.

#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/zone_table.hpp"
#include "warpheap/managers/xmalloc/zone_tour.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

/// Lives for one call of one lane.
template <xmalloc_config Config>
class joined_zones {
  using row_of_zones = typename zone_rooms<Config>::row_of_zones;

 public:
  WARPHEAP_DEVICE explicit joined_zones(const zone_table<Config>& heap) : heap_(heap) {}

  /// A block of `units` that no zone has room for; `none` if there is none, if others take it, or
  /// if they hold the locks all the time.
  WARPHEAP_DEVICE std::uint32_t take(std::uint32_t units) const {
    const row_of_zones row = heap_.room().find_row(heap_.by(), units);
    if (row.first == none) return none;
    const std::uint32_t most = zone_tour<Config>::most_holders(heap_, units);
    std::uint32_t holders = 0;
    std::uint32_t zone = row.first;
    for (; zone <= row.last; ++zone) {
      const auto gives_up = [&] {
        if (!is_free(row, units)) return true;
        ++holders;
        return holders >= most;
      };
      if (heap_.lock_of(zone).lock(gives_up) == none) break;
    }
    std::uint32_t taken = none;
    if (zone > row.last && is_free(row, units)) taken = cut(row, units);
    while (zone != row.first) heap_.lock_of(--zone).unlock();
    return taken;
  }

  /// Frees a block that ends in another zone than it begins in.
  WARPHEAP_DEVICE void give(std::uint32_t unit) const {
    const std::uint32_t end = heap_.at(unit).next;
    heap_.at(unit).word = 0;
    for (std::uint32_t begin = unit; begin != end;) {
      const std::uint32_t zone = heap_.by().of(begin);
      const std::uint32_t border = heap_.by().end(zone);
      const std::uint32_t part_end = end < border ? end : border;
      const turn_lock lock = heap_.lock_of(zone);
      lock.lock([] { return false; });
      if (begin != unit) heap_.at(begin) = {part_end, none, memory_state::block, 0};
      heap_.list_of(zone).give(begin, part_end);
      lock.unlock();
      begin = part_end;
    }
  }

 private:
  /// Units between the first and the last zone.
  WARPHEAP_DEVICE std::uint32_t between(const row_of_zones& row) const {
    return heap_.by().begin(row.last) - heap_.by().end(row.first);
  }

  WARPHEAP_DEVICE bool is_free(const row_of_zones& row, std::uint32_t units) const {
    for (std::uint32_t zone = row.first + 1; zone < row.last; ++zone) {
      if (heap_.room().head(zone) != heap_.by().size(zone)) return false;
    }
    const std::uint32_t back = heap_.room().tail(row.first);
    return back != 0 && heap_.room().head(row.last) + between(row) + back >= units;
  }

  /// Takes as much of the first zone as there is. \pre all zones are locked, and `is_free`
  WARPHEAP_DEVICE std::uint32_t cut(const row_of_zones& row, std::uint32_t units) const {
    const std::uint32_t back = heap_.room().tail(row.first);
    const std::uint32_t others = units - between(row);  // of the first and the last zone
    const std::uint32_t of_first = back < others ? back : others;
    const std::uint32_t unit = heap_.list_of(row.first).cut(heap_.by().end(row.first) - back,
                                                            of_first, memory_state::block);
    for (std::uint32_t zone = row.first + 1; zone < row.last; ++zone) {
      heap_.list_of(zone).cut_front(heap_.by().size(zone));
    }
    if (of_first != others) heap_.list_of(row.last).cut_front(others - of_first);
    heap_.at(unit).next = unit + units;
    return unit;
  }

  const zone_table<Config>& heap_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
