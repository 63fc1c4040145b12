// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The bottom of XMalloc: Memoryblocks, free and in use, that tile the heap. It is divided into
/// zones (zones.hpp), each with a list of its own (zone_list.hpp) behind a lock of its own.
///
/// A request begins at a zone that its multiprocessor and warp choose, so that those which run at
/// the same time begin at different ones. It goes on to the next zone if this one has nothing, or
/// if others hold its lock. A block goes back to the zone in which it begins. Free blocks do not
/// merge over the borders of zones; a request that fits into no zone gets a block over borders,
/// under the locks of all zones that it touches, and such a block falls apart when it is freed
/// (joined_zones.hpp).
///
/// Lanes that call together hold a lock together. If one free block is large enough for all that
/// they want, it is split in one step, and what they free in a row is freed as one block; otherwise
/// they come one after the other. What they free in several zones goes to one after the other.
///
/// Progress: blocking. The lanes that hold a lock search the free blocks of its zone at most three
/// times each, and wait only for each other, or for the lock of a zone with a higher number. A lane
/// that wants a block goes to each zone once, if that may have one of its size. It waits at a zone
/// only if others hold the locks of all of the next few, and gives it up as soon as there is none
/// of that size; where memory is scarce, also after others have held locks several times: there,
/// most lanes that hold them find nothing, and so many queue that waiting for a turn takes longer
/// than everything else.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/free_rings.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/joined_zones.hpp"
#include "warpheap/managers/xmalloc/zone_list.hpp"
#include "warpheap/managers/xmalloc/zone_table.hpp"
#include "warpheap/managers/xmalloc/zone_tour.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
class memoryblocks {
  using list = zone_list<Config>;

 public:
  using sizes = geometry<Config>;
  using tour = zone_tour<Config>;

  memoryblocks() = default;
  memoryblocks(region_cursor& cursor, std::uint32_t units) : zones_(cursor, units) {}

  WARPHEAP_HD std::uint32_t units() const { return zones_.by().units(); }
  WARPHEAP_HD std::byte* base() const { return zones_.base(); }
  WARPHEAP_HD memory_head& at(std::uint32_t unit) const { return zones_.at(unit); }
  WARPHEAP_HD std::byte* bytes_of(std::uint32_t unit) const {
    return base() + std::size_t{unit} * sizes::unit + sizes::memory_header;
  }
  /// The unit that `block`, a pointer into the heap, lies in.
  WARPHEAP_HD std::uint32_t unit_of(const std::byte* block) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(block - base()) / sizes::unit);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    zones_.format(rank, count);
  }

  /// Whether no block of `units` is free.
  WARPHEAP_DEVICE bool is_out(std::uint32_t units) const {
    return zones_.is_out_in_each(units) && zones_.room().find_row(zones_.by(), units).first == none;
  }
  /// Whether no Superblock of a class has room. They do not lie across borders.
  WARPHEAP_DEVICE bool is_out_for_superblocks(std::uint32_t cls) const {
    return zones_.is_out_in_each(sizes::least_units(cls));
  }

  /// A block of `units`; `none` if there is none, or if memory is scarce and others hold the locks
  /// all the time.
  /// \param kept free blocks of this many units stay whole: `none`, too, if there is one where the
  /// lane has looked. 0: take any
  WARPHEAP_DEVICE std::uint32_t take(std::uint32_t units, std::uint32_t kept = 0) const {
    if (is_out(units)) return none;
    const simt::group together = simt::coalesced(base());
    std::uint32_t taken = none;
    bool wants = true;
    visit_zones(together, units, wants, [&](std::uint32_t zone) {
      if (together.size() != 1 && together.all(wants && kept == 0)) {
        taken = take_together(zone, together, units);
        wants = taken == none;
      }
      in_turn(together, those_with_hope(together, zone, wants, units), [&] {
        const std::uint32_t found = simt::call_apart(&take_one, zones_, zone, units, kept);
        wants = found == none;
        if (!wants && found != stays_whole) taken = found;
      });
    });
    if (zones_.by().count() == 1) return taken;
    in_turn(together, together.ballot(wants),
            [&] { taken = simt::call_apart(&take_joined, zones_, units); });
    return taken;
  }

  /// A block for a Superblock of a class, as large as there is, up to a whole one; `none` like
  /// `take`. \param blocks receives the number of Basicblocks that fit into it
  WARPHEAP_DEVICE std::uint32_t take_superblock(std::uint32_t cls, std::uint32_t& blocks) const {
    const std::uint32_t whole = sizes::superblock_units(cls);
    const std::uint32_t least = sizes::least_units(cls);
    if (is_out_for_superblocks(cls)) return none;
    const simt::group together = simt::coalesced(base());
    std::uint32_t taken = none;
    bool wants = true;
    for (const std::uint32_t wanted : {whole, least}) {
      visit_zones(together, wanted, wants, [&](std::uint32_t zone) {
        in_turn(together, those_with_hope(together, zone, wants, wanted), [&] {
          const std::uint64_t split =
              simt::call_apart(&split_one, zones_, zone, cls, wanted == whole);
          taken = static_cast<std::uint32_t>(split);
          if (taken == none) return;
          blocks = static_cast<std::uint32_t>(split >> 32);
          wants = false;
        });
      });
    }
    return taken;
  }

  /// Lanes that call together go to one zone after the other: on CUDA, lanes of a warp that have
  /// got their locks may wait for those that have not, and must hold none meanwhile.
  WARPHEAP_DEVICE void give(std::uint32_t unit) const {
    const simt::group together = simt::coalesced(base());
    const std::uint32_t zone = zones_.by().of(unit);
    const bool is_joined = at(unit).next > zones_.by().end(zone);
    const simt::group same = together.match(is_joined ? none : zone);
    const simt::lane_mask joined = together.ballot(is_joined);
    in_turn(together, joined, [&] { simt::call_apart(&give_joined, zones_, unit); });
    for (simt::lane_mask left = together.mask() - joined; !left.empty();) {
      if (same.mask().contains(left.lowest())) give_together(same, zone, unit);
      left = left - simt::lane_mask{together.shuffle(same.mask().bits(), left.lowest())};
    }
  }

  // Only while no lane allocates.

  WARPHEAP_HD const zone_table<Config>& zones() const { return zones_; }

 private:
  /// No block begins there.
  static constexpr std::uint32_t stays_whole = none - 1;

  // Apart, because each of them needs many registers by itself. No two of a chain of such calls
  // have parameters and results of equal sizes, which is all that ptxas knows of a function's type.

  WARPHEAP_RARE static typename tour::stop next_stop(tour& on, std::uint32_t units) {
    return on.next(units);
  }
  /// What `take` returns, but `stays_whole` if a block of `kept` units is free.
  WARPHEAP_RARE static std::uint32_t take_one(const zone_table<Config>& of, std::uint32_t zone,
                                              std::uint32_t units, std::uint32_t kept) {
    const list at_zone = of.list_of(zone);
    if (kept != 0 && at_zone.search(kept) != none) return stays_whole;
    const std::uint32_t found = at_zone.search(units);
    return found == none ? none : at_zone.cut(found, units, memory_state::block);
  }
  /// [ Basicblocks:32 | unit:32 ]
  WARPHEAP_RARE static std::uint64_t split_one(const zone_table<Config>& of, std::uint32_t zone,
                                               std::uint32_t cls, bool whole) {
    const list at_zone = of.list_of(zone);
    const std::uint32_t found = whole ? at_zone.search(sizes::superblock_units(cls))
                                      : at_zone.search_large(sizes::least_units(cls));
    if (found == none) return none;
    const std::uint32_t blocks = sizes::blocks_that_fit(cls, at_zone.size_of(found));
    const std::uint32_t units = sizes::superblock_units(cls, blocks);
    return std::uint64_t{blocks} << 32 | at_zone.cut(found, units, memory_state::superblock);
  }
  WARPHEAP_RARE static void give_one(const zone_table<Config>& of, std::uint32_t zone,
                                     std::uint32_t unit, std::uint32_t end) {
    of.list_of(zone).give(unit, end);
  }
  WARPHEAP_RARE static std::uint32_t take_joined(const zone_table<Config>& from,
                                                 std::uint32_t units) {
    return joined_zones<Config>(from).take(units);
  }
  WARPHEAP_RARE static void give_joined(const zone_table<Config>& to, std::uint32_t unit) {
    joined_zones<Config>(to).give(unit);
  }

  /// The members that want something which the zone may have.
  WARPHEAP_DEVICE simt::lane_mask those_with_hope(const simt::group& together, std::uint32_t zone,
                                                  bool wants, std::uint32_t units) const {
    return together.ballot(wants && !zones_.room().is_out(zone, units));
  }

  /// Calls `locked()` in each of `lanes`, members of a group that holds the lock, one after the
  /// other.
  template <class Locked>
  WARPHEAP_DEVICE void in_turn(const simt::group& together, simt::lane_mask lanes,
                               const Locked& locked) const {
    for (; !lanes.empty(); lanes = lanes.without(lanes.lowest())) {
      together.sync();  // a member sees what the last one wrote
      if (lanes.lowest() == simt::lane_id()) locked();
    }
  }

  /// Frees blocks of one zone.
  WARPHEAP_DEVICE void give_together(const simt::group& same, std::uint32_t zone,
                                     std::uint32_t unit) const {
    same.sync();  // what members did comes before what the leader releases
    std::uint32_t key = none;
    if (same.is_leader()) key = zones_.lock_of(zone).lock([] { return false; });
    same.sync();  // what the leader has acquired is the members' as well
    const row freed = row_of(same, unit);
    at(unit).word = 0;  // also inside a row, where nothing else tells that the block is free
    in_turn(same, freed.firsts,
            [&] { simt::call_apart(&give_one, zones_, zone, unit, freed.end); });
    unlock(same, zone, key);
  }

  /// Blocks of members of a group, each of which begins where the block of the member before ends.
  struct row {
    /// The members whose blocks are the first of rows.
    simt::lane_mask firsts;
    /// Of the caller's row, if it is the first.
    std::uint32_t end;
  };
  WARPHEAP_DEVICE row row_of(const simt::group& together, std::uint32_t unit) const {
    const simt::lane_mask members = together.mask();
    const std::uint32_t end = at(unit).next;
    const bool goes_on = together.shuffle(end, before(members)) == unit;
    const simt::lane_mask firsts = together.ballot(!goes_on);
    const simt::lane_mask later = firsts - members.below(simt::lane_id() + 1);
    const simt::lane_mask mine = later.empty() ? members : members.below(later.lowest());
    return {firsts, together.shuffle(end, highest_bit(mine.bits()))};
  }
  /// The member before the caller; the first one itself.
  WARPHEAP_DEVICE static int before(simt::lane_mask members) {
    const simt::lane_mask below = members.below(simt::lane_id());
    return below.empty() ? simt::lane_id() : highest_bit(below.bits());
  }

  /// Calls `serve(list)` in all members, with the lock of that list, for each zone that may have
  /// `units`, until no member wants anything. A collective.
  template <class Serve>
  WARPHEAP_DEVICE void visit_zones(const simt::group& together, std::uint32_t units,
                                   const bool& wants, const Serve& serve) const {
    tour on(zones_);
    for (;;) {
      const std::uint32_t least = together.least(wants ? units : none);
      if (least == none) return;
      together.sync();  // what members did comes before what the leader releases
      typename tour::stop stop;
      if (together.is_leader()) stop = simt::call_apart(&next_stop, on, least);
      together.sync();  // what the leader has acquired is the members' as well
      stop.key = together.broadcast(stop.key);
      if (stop.key == none) return;
      stop.zone = together.broadcast(stop.zone);
      serve(stop.zone);
      unlock(together, stop.zone, stop.key);
    }
  }
  WARPHEAP_DEVICE void unlock(const simt::group& together, std::uint32_t zone,
                              std::uint32_t key) const {
    together.sync();  // what members wrote comes before what the leader releases
    if (together.is_leader()) zones_.lock_of(zone).unlock(key);
  }

  /// Blocks of `units` for all members, out of one free block; none for any if there is no such
  /// block. \pre locked
  WARPHEAP_DEVICE std::uint32_t take_together(std::uint32_t zone, const simt::group& together,
                                              std::uint32_t units) const {
    const auto sums = sync::sum_over<std::uint64_t>(together, units);
    if (sums.total > zones_.by().units()) return none;
    const auto all = static_cast<std::uint32_t>(sums.total);
    std::uint32_t first = none;
    if (together.is_leader()) {
      first = simt::call_apart(&take_one, zones_, zone, all, 0u);
    }
    first = together.broadcast(first);
    if (first == none) return none;
    together.sync();  // the leader's header is written before the other ones
    const std::uint32_t unit = first + static_cast<std::uint32_t>(sums.before);
    const std::uint32_t prev = together.shuffle(unit, before(together.mask()));
    if (unit == first) {
      at(unit).next = unit + units;
    } else {
      at(unit) = {unit + units, prev, memory_state::block, block_word::memory().bits()};
    }
    if (unit + units == first + all) {
      zones_.list_of(zone).set_before(first + all, unit);
    }
    return unit;
  }

  zone_table<Config> zones_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
