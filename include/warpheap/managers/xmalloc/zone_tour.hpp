// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The way of a request through XMalloc's zones: to which of them it goes next, and how long it
/// waits there.
///
/// Progress: blocking; see memoryblocks.hpp. Each zone is visited once, so a tour ends if the lanes
/// that hold locks give them back.

#include "warpheap/core/bits.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/zone_table.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

/// As the leader of the group knows it that makes it. Lives for one call.
template <xmalloc_config Config>
class zone_tour {
 public:
  /// How often others may hold locks before a lane gives up: where not even the smallest Superblock
  /// fits; where no free block is `scarce` times as large as what the lane wants; and otherwise.
  static constexpr std::uint32_t few_holders = 4;
  static constexpr std::uint32_t some_holders = 16;
  static constexpr std::uint32_t any_holders = ~0u;
  static constexpr std::uint32_t scarce = 16;

  /// For a lane that wants `units`.
  WARPHEAP_DEVICE static std::uint32_t most_holders(const zone_table<Config>& heap,
                                                    std::uint32_t units) {
    if (heap.is_out_in_each(geometry<Config>::least_units(0))) return few_holders;
    if (units > heap.by().units() / scarce) return some_holders;
    // No zone has a block of more than all of it.
    const std::uint32_t all = heap.by().size(0);
    const bool is_scarce = heap.is_out_in_each(units > all / scarce ? all : scarce * units);
    return is_scarce ? some_holders : any_holders;
  }

  /// A zone whose lock the caller now holds, and the key of that; no key: no zone is left.
  struct stop {
    std::uint32_t zone = none;
    std::uint32_t key = none;
  };

  WARPHEAP_DEVICE explicit zone_tour(const zone_table<Config>& heap)
      : heap_(heap), home_((simt::sm_id() + simt::warp_slot()) % heap.by().count()) {}

  /// The next zone that may have `units`.
  WARPHEAP_DEVICE stop next(std::uint32_t units) {
    for (;;) {
      left_ &= heap_.room().candidates(heap_.by(), units);
      std::uint32_t nearest = none;
      int tries = few_zones;
      for (std::uint64_t rest = left_; rest != 0 && tries != 0;) {
        const std::uint32_t zone = first_of(rest);
        rest &= ~bit_of(zone);
        if (heap_.room().is_out(zone, units)) {
          left_ &= ~bit_of(zone);
          continue;
        }
        if (nearest == none) nearest = zone;
        --tries;
        const std::uint32_t key = heap_.lock_of(zone).try_lock();
        if (key == none) continue;
        left_ &= ~bit_of(zone);
        return {zone, key};
      }
      if (nearest == none) return {};
      left_ &= ~bit_of(nearest);
      const std::uint32_t key = wait_at(nearest, units);
      if (key != none) return {nearest, key};
    }
  }

 private:
  /// At so many zones a lane tries the lock, before it waits at the first of them.
  static constexpr int few_zones = 4;

  WARPHEAP_DEVICE static std::uint64_t bit_of(std::uint32_t zone) {
    return std::uint64_t{1} << zone;
  }
  /// The first of some zones, from `home_` on.
  WARPHEAP_DEVICE std::uint32_t first_of(std::uint64_t zones) const {
    const std::uint64_t behind = zones & ~(bit_of(home_) - 1);
    return static_cast<std::uint32_t>(lowest_bit(behind != 0 ? behind : zones));
  }

  /// The key of a zone's lock; `none` if the lane shall give the zone up.
  WARPHEAP_DEVICE std::uint32_t wait_at(std::uint32_t zone, std::uint32_t units) {
    const std::uint32_t most = most_holders(heap_, units);
    return heap_.lock_of(zone).lock([&] {
      if (heap_.room().is_out(zone, units)) return true;
      ++holders_;
      return holders_ >= most;
    });
  }

  const zone_table<Config>& heap_;
  /// A bit for each zone that may still be visited.
  std::uint64_t left_ = ~std::uint64_t{0};
  std::uint32_t home_;
  /// How often others held locks for which the lane waited.
  std::uint32_t holders_ = 0;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
