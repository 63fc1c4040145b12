// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// UAlloc: arenas of chunks of bins of blocks. An arena has a list of bins for each size, which
/// grows by a bin, and a list of chunks, from which bins come, which grows by a node of the buddy
/// tree. A slab whose items are all free goes back where it came from, if its list keeps a slab's
/// worth of units, and else stays until memory runs out.
///
/// Reclaiming: before memory counts as used up, the lanes of one group give back all slabs that are
/// wholly free, and merge the buddies that are left. The others wait for them and try again.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/bulk_allocator/buddy_tree.hpp"
#include "warpheap/managers/bulk_allocator/geometry.hpp"
#include "warpheap/managers/bulk_allocator/reclaiming.hpp"
#include "warpheap/managers/bulk_allocator/slab_lists.hpp"
#include "warpheap/managers/bulk_allocator/slab_table.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bulk_semaphore.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

/// A handle: copies refer to the same memory.
template <bulk_allocator_config Config>
class arenas {
 public:
  using sizes = geometry<Config>;

  /// Blocks of one bin, the caller's.
  struct share {
    std::uint32_t bin = slab_table::none;
    std::uint32_t blocks = 0;
    /// Blocks 0..blocks-1 of a new bin; else that many are to be claimed.
    bool fresh = false;
  };

  static std::uint32_t arenas_for(std::uint32_t pages, std::uint32_t multiprocessors) {
    const std::uint32_t room = pages / (sizes::chunk_pages * Config.chunks_per_arena);
    const std::uint32_t most = page_state::most_lists / lists_each;
    const std::uint32_t wanted = multiprocessors < most ? multiprocessors : most;
    const std::uint32_t arenas = room < wanted ? room : wanted;
    return arenas == 0 ? 1 : arenas;
  }

  void lay_out(region_cursor& cursor, std::uint32_t pages, std::uint32_t multiprocessors) {
    count_ = arenas_for(pages, multiprocessors);
    reclaiming_.lay_out(cursor, pages);
    buddy_.lay_out(cursor, pages);
    lists_.lay_out(cursor, count_ * lists_each);
    table_.lay_out(cursor, pages, sizes::page_shift);
    lists_.use(table_);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    reclaiming_.format(rank, count);
    buddy_.format(rank, count);
    lists_.format(rank, count);
    table_.format(rank, count);
  }

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_HD const buddy_tree& buddy() const { return buddy_; }
  WARPHEAP_HD const slab_lists& lists() const { return lists_; }
  WARPHEAP_HD const slab_table& table() const { return table_; }
  /// `count` and what is noted.
  WARPHEAP_HD const bulk_parts::reclaiming& reclaims() const { return reclaiming_; }

  // Lists have numbers: an arena's bins of each class, then its chunks.
  static constexpr std::uint32_t lists_each = sizes::classes + 1;
  WARPHEAP_HD static constexpr std::uint32_t list_of(std::uint32_t arena, std::uint32_t cls) {
    return arena * lists_each + cls;
  }
  WARPHEAP_HD static constexpr std::uint32_t chunks_of(std::uint32_t arena) {
    return list_of(arena, sizes::classes);
  }
  WARPHEAP_HD static constexpr bool is_of_chunks(std::uint32_t list) {
    return list % lists_each == sizes::classes;
  }
  /// Items of a slab of the list.
  WARPHEAP_HD static constexpr std::uint32_t items_of(std::uint32_t list) {
    return is_of_chunks(list) ? sizes::regular_bins : sizes::blocks(list % lists_each);
  }

  /// Up to `want` blocks of a class, out of the caller's arena or another one; none if no arena has
  /// or expects any, nor the tree any chunk.
  ///
  /// Ends: an attempt that fails was overtaken by a lane that took what it saw, and such attempts
  /// are counted.
  WARPHEAP_DEVICE share take(std::uint32_t arena, std::uint32_t cls, std::uint32_t want) const {
    bool hope = true;
    for (int looks = 0; hope && looks < patience; ++looks) {
      hope = has_chunks();
      for (std::uint32_t i = 0; i < count_; ++i) {
        if ((i == 0 && hope) || may_have(arena, cls)) {
          hope = true;
          const share got = take_from(arena, cls, want);
          if (got.blocks != 0) return got;
        }
        arena = arena + 1 < count_ ? arena + 1 : 0;
      }
      hope = hope || has_chunks();
    }
    return {};
  }

  /// Takes back `blocks` blocks of a bin, which have been unclaimed.
  WARPHEAP_DEVICE void give(std::uint32_t bin, std::uint32_t blocks) const {
    give_items<false>(table_.state(bin).list(), bin, blocks);
  }

  /// Nodes of the buddy tree for the first members of a group; none if the tree neither has nor
  /// expects one. Returns how many. A collective. Ends: futile attempts are counted.
  WARPHEAP_DEVICE std::uint32_t take_nodes(const simt::group& members, int order,
                                           std::uint32_t& node) const {
    std::uint32_t got = 0;
    for (int looks = 0; looks < few_looks && got == 0; ++looks) {
      if (!members.any(members.is_leader() && buddy_.expects(order))) break;
      got = buddy_.take(members, order, node);
    }
    return got;
  }
  /// Takes back a node of each member of a group: a collective.
  WARPHEAP_DEVICE void give_nodes(const simt::group& members, int order, std::uint32_t node) const {
    const bool merged = buddy_.give(members, order, node);
    members.sync();  // with the leader's note come those of the pairs
    if (!members.all(merged) && members.is_leader()) reclaiming_.note_pairs();
  }

  /// Reclaims what is free and kept, or waits for the lanes that do. A collective.
  /// \param seen of `reclaims().count()`, before the attempt that failed, as the leader saw it
  /// \return whether another attempt is worthwhile: something was reclaimed since
  ///
  /// Ends: the lanes that reclaim wait for locks of lists alone, and for each other.
  WARPHEAP_DEVICE bool reclaim(const simt::group& members, std::uint32_t seen) const {
    return simt::call_apart(&reclaim_apart, *this, members, seen);
  }

  WARPHEAP_DEVICE bool is_reclaiming() const { return reclaiming_.count() % 2 != 0; }

 private:
  static constexpr int patience = 64;
  static constexpr int few_looks = 4;

  /// Looks downwards and upwards, as the tree does: a bin that is taken becomes units of its size,
  /// one that is given back becomes a unit of the chunks.
  WARPHEAP_DEVICE bool may_have(std::uint32_t arena, std::uint32_t cls) const {
    return has_bins(arena) || lists_.units(list_of(arena, cls)).read().expected() > 0 ||
           has_bins(arena);
  }
  WARPHEAP_DEVICE bool has_bins(std::uint32_t arena) const {
    return lists_.units(chunks_of(arena)).read().expected() > 0;
  }
  WARPHEAP_DEVICE bool has_chunks() const { return buddy_.expects(Config.chunk_log2); }

  WARPHEAP_DEVICE share take_from(std::uint32_t arena, std::uint32_t cls,
                                  std::uint32_t want) const {
    return obtain(
        list_of(arena, cls), want, [this, arena] { return has_bins(arena) || has_chunks(); },
        [this, arena] { return take_bin(arena); });
  }

  /// A node of the buddy tree for a lane that acts for others, or none. Not `take_nodes` with a
  /// group of one: see `buddy_tree::take`. Ends: as that does.
  WARPHEAP_DEVICE std::uint32_t take_node(int order) const {
    for (int looks = 0; looks < few_looks && buddy_.expects(order); ++looks) {
      const std::uint32_t node = buddy_.take(order);
      if (node != buddy_tree::none) return node;
    }
    return buddy_tree::none;
  }
  WARPHEAP_DEVICE void give_node(int order, std::uint32_t node) const {
    if (!buddy_.give(order, node)) reclaiming_.note_pairs();
  }

  /// A bin out of the arena's chunks, or none.
  WARPHEAP_DEVICE std::uint32_t take_bin(std::uint32_t arena) const {
    const share got = obtain(
        chunks_of(arena), 1, [this] { return has_chunks(); },
        [this] {
          const std::uint32_t node = take_node(Config.chunk_log2);
          return node == buddy_tree::none ? slab_table::none : node << Config.chunk_log2;
        });
    if (got.blocks == 0) return slab_table::none;
    const std::uint32_t item = got.fresh ? 0u : table_.claim(got.bin, sizes::regular_bins, hash());
    return got.bin + sizes::special_bins + item;
  }

  /// Up to `want` items of a slab in the list, or of a new one.
  /// \param can_grow `bool ()`: whether memory for a slab is there or expected
  /// \param grow `uint32_t ()`: a page for a slab, or none
  ///
  /// Ends: a lane that promises a slab waits only for promises of the level that the slab comes
  /// from, blocks for bins, bins for chunks, chunks for nodes, so chains of waiting lanes end at
  /// the top of the tree; and futile attempts are counted.
  template <class CanGrow, class Grow>
  WARPHEAP_DEVICE share obtain(std::uint32_t list, std::uint32_t want, const CanGrow& can_grow,
                               const Grow& grow) const {
    const sync::bulk_semaphore units = lists_.units(list);
    const std::uint32_t items = items_of(list);
    // At most one batch is asked for.
    const std::uint32_t wanted = want < items ? want : items;
    bool in_vain = false;
    for (int looks = 0; looks < patience; ++looks) {
      const auto asked = units.ask(wanted, items, in_vain);
      in_vain = false;
      const bool growing = asked.missing != 0 && can_grow();
      if (growing && asked.batches != 0) {
        // Others rely on the batch. It contains what is missing; the rest is for them, or for the
        // next turn.
        if (asked.granted != 0) units.signal(asked.granted);
        const std::uint32_t kept = units.promise(asked, items);
        const std::uint32_t slab = grow();
        const std::uint32_t rest = items - kept;
        if (slab == slab_table::none) {
          units.deliver(rest, 0);
          return {};
        }
        table_.format_map(slab, items, kept);
        table_.set_state(slab, page_state::slab(list, rest));
        if (rest != 0) lists_.settle(list, slab);
        units.deliver(rest, rest);
        return {slab, kept, true};
      }
      std::uint32_t granted = asked.granted;
      if (granted != 0) {
        if (asked.missing != 0) units.decline(asked);
      } else if (growing || asked.covered) {
        granted = units.await(asked);
        in_vain = granted == 0;
      } else if (!units.decline(asked)) {
        return {};
      }
      if (granted != 0) {
        const slab_lists::draft drawn = lists_.draw(list, granted);
        if (drawn.items < granted) units.signal(granted - drawn.items);
        return {drawn.slab, drawn.items, false};
      }
    }
    return {};
  }

  template <bool Chunks>
  WARPHEAP_DEVICE void give_items(std::uint32_t list, std::uint32_t slab,
                                  std::uint32_t items) const {
    const page_state before = table_.add_free(slab, items);
    if (before.count() == 0) lists_.settle(list, slab);
    lists_.units(list).signal(items);
    if (before.count() + items == items_of(list) && !retire<Chunks>(list, slab, true) &&
        !(before.is_noted() && reclaiming_.has_note(slab))) {
      note(list, slab);
    }
  }

  /// Notes a slab that is wholly free and stays.
  WARPHEAP_DEVICE void note(std::uint32_t list, std::uint32_t slab) const {
    table_.say_noted(slab, list, items_of(list));
    reclaiming_.note_slab(slab);
  }

  /// Gives back a slab whose items are all free. Its units are borrowed: they stay expected until
  /// the memory is where lanes that miss them can get it.
  /// \param spare only if the list keeps a slab's worth of units
  /// \return false if the units were not available; true if it is done, or the slab is in use again
  template <bool Chunks>
  WARPHEAP_DEVICE bool retire(std::uint32_t list, std::uint32_t slab, bool spare) const {
    const sync::bulk_semaphore units = lists_.units(list);
    const std::uint32_t items = items_of(list);
    if (spare && units.read().count < 2 * std::int64_t{items}) return false;
    if (!units.borrow_all(items)) return false;
    if (!lists_.remove_whole(list, slab, items)) {
      units.deliver(items, items);
      return true;
    }
    if constexpr (Chunks) {
      give_node(Config.chunk_log2, slab >> Config.chunk_log2);
    } else {
      const std::uint32_t chunk = sizes::chunk_of(slab);
      table_.unclaim(chunk, slab - chunk - sizes::special_bins);
      give_items<true>(chunks_of(list / lists_each), chunk, 1);
    }
    units.deliver(items, 0);
    return true;
  }

  WARPHEAP_RARE static bool reclaim_apart(const arenas& self, simt::group members,
                                          std::uint32_t seen) {
    using outlook = reclaiming::outlook;
    members.sync();  // what members have freed comes before what the leader looks for
    outlook found = outlook::nothing;
    if (members.is_leader()) found = self.reclaiming_.begin(seen);
    found = static_cast<outlook>(members.broadcast(static_cast<std::uint32_t>(found)));
    members.sync();  // what the leader has acquired is the members' as well
    if (found == outlook::mine) self.reclaim_all(members);
    return found != outlook::nothing;
  }

  /// Notes are cleared before what they are about is searched, so none is lost. A collective.
  WARPHEAP_DEVICE void reclaim_all(const simt::group& members) const {
    std::uint32_t what = 0;
    if (members.is_leader()) what = reclaiming_.take_down();
    members.sync();  // what the leader has acquired is the members' as well
    what = members.broadcast(what);
    if ((what & reclaiming::idle_slabs) != 0) {
      retire_noted(members);
      members.sync();
      // Chunks that the bins have made whole.
      retire_noted(members);
    }
    members.sync();
    if (!buddy_.merge_pairs(static_cast<std::uint32_t>(members.rank()),
                            static_cast<std::uint32_t>(members.size()))) {
      reclaiming_.note_pairs();
    }
    members.sync();  // what members have reclaimed comes before what the leader releases
    if (members.is_leader()) reclaiming_.end();
  }

  /// Retires the slabs that are noted, as far as they are still wholly free. Each member looks at a
  /// part of the pages. Ends: it passes each page once, even if lanes note more slabs.
  WARPHEAP_DEVICE void retire_noted(const simt::group& members) const {
    const std::uint32_t part = ceil_div(table_.pages(), static_cast<std::uint32_t>(members.size()));
    const std::uint32_t from = part * static_cast<std::uint32_t>(members.rank());
    for (std::uint32_t slab = reclaiming_.slabs().successor(from); slab < from + part;
         slab = reclaiming_.slabs().successor(slab + 1)) {
      if (!reclaiming_.slabs().remove(slab)) continue;
      const page_state state = table_.say_not_noted(slab);
      if (!state.is_slab() || state.count() != items_of(state.list())) continue;
      const bool done = is_of_chunks(state.list()) ? retire<true>(state.list(), slab, false)
                                                   : retire<false>(state.list(), slab, false);
      if (!done) note(state.list(), slab);
    }
  }

  WARPHEAP_DEVICE static std::uint32_t hash() {
    return static_cast<std::uint32_t>(simt::noise() >> 32);
  }

  reclaiming reclaiming_;
  std::uint32_t count_ = 0;
  buddy_tree buddy_;
  slab_lists lists_;
  slab_table table_;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
