// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// XMalloc's zones in memory: what belongs to each of them, and the Memoryblocks.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/free_rings.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/turn_lock.hpp"
#include "warpheap/managers/xmalloc/zone_list.hpp"
#include "warpheap/managers/xmalloc/zone_rooms.hpp"
#include "warpheap/managers/xmalloc/zones.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
class zone_table {
 public:
  using sizes = geometry<Config>;
  using list = zone_list<Config>;
  using rooms = zone_rooms<Config>;
  using division = zones<Config>;

  zone_table() = default;
  zone_table(region_cursor& cursor, std::uint32_t units)
      : zones_(units),
        words_(cursor.take<zone_words>(division::most_of(units))),
        rooms_(cursor, units),
        base_(cursor.take<std::byte>(std::size_t{units} * sizes::unit, 128)) {}

  WARPHEAP_HD const division& by() const { return zones_; }
  WARPHEAP_HD const rooms& room() const { return rooms_; }
  WARPHEAP_HD std::byte* base() const { return base_; }
  WARPHEAP_HD memory_head& at(std::uint32_t unit) const { return list::head_at(base_, unit); }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < zones_.count(); i += count) {
      const auto zone = static_cast<std::uint32_t>(i);
      lock_of(zone).format();
      rooms_.format(zones_, zone);
      list_of(zone).format();
    }
  }

  /// Whether no zone has a free block of `units`.
  WARPHEAP_DEVICE bool is_out_in_each(std::uint32_t units) const {
    return rooms_.is_out_in_each(zones_, units);
  }

  WARPHEAP_DEVICE turn_lock lock_of(std::uint32_t zone) const {
    return turn_lock(words_[zone].lock);
  }
  WARPHEAP_DEVICE free_rings<sizes> free(std::uint32_t zone) const {
    return {words_[zone].free, base_};
  }
  WARPHEAP_DEVICE list list_of(std::uint32_t zone) const {
    return list(free(zone), rooms_, zones_, zone, base_);
  }

 private:
  struct zone_words {
    /// See `turn_lock`.
    alignas(128) std::uint32_t lock;
    free_ring_heads free;
  };

  division zones_;
  zone_words* words_ = nullptr;
  rooms rooms_;
  std::byte* base_ = nullptr;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
