// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// UAlloc: arenas of chunks of bins of blocks. An arena has a list of bins for each size, which
/// grows by a bin, and a list of chunks, from which bins come, which grows by a node of the buddy
/// tree. A slab whose items are all free goes back where it came from, if its list keeps a slab's
/// worth of units, and else stays until memory runs out.
///
/// Reclaiming: before memory counts as used up, one lane gives back all slabs that are wholly free,
/// and merges the buddies that are left. The others wait for it and try again. `reclaims` is odd
/// while that goes on.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/bulk_allocator/buddy_tree.hpp"
#include "warpheap/managers/bulk_allocator/geometry.hpp"
#include "warpheap/managers/bulk_allocator/slab_lists.hpp"
#include "warpheap/managers/bulk_allocator/slab_table.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bulk_semaphore.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

struct alignas(128) reclaim_words {
  std::uint32_t reclaims;
  /// What there may be to reclaim: `idle_slabs`, `idle_pairs`.
  std::uint32_t idle;
};

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
    words_ = cursor.take<reclaim_words>(1);
    buddy_.lay_out(cursor, pages);
    lists_.lay_out(cursor, count_ * lists_each);
    table_.lay_out(cursor, pages, sizes::page_shift);
    lists_.use(table_);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *words_ = {0, 0};
    buddy_.format(rank, count);
    lists_.format(rank, count);
    table_.format(rank, count);
  }

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_HD const buddy_tree& buddy() const { return buddy_; }
  WARPHEAP_HD const slab_lists& lists() const { return lists_; }
  WARPHEAP_HD const slab_table& table() const { return table_; }

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

  /// A node of the buddy tree; none if the tree neither has nor expects one. Ends: see above.
  WARPHEAP_DEVICE std::uint32_t take_node(int order) const {
    for (int looks = 0; looks < patience && buddy_.expects(order); ++looks) {
      const std::uint32_t node = buddy_.take(order);
      if (node != buddy_tree::none) return node;
    }
    return buddy_tree::none;
  }
  WARPHEAP_DEVICE void give_node(int order, std::uint32_t node) const {
    if (!buddy_.give(order, node)) note_idle(idle_pairs);
  }

  /// How often memory was reclaimed: to be asked for before an attempt that may fail.
  WARPHEAP_DEVICE std::uint32_t reclaims() const {
    return simt::atomic_ref(words_->reclaims).load(simt::order::acquire);
  }

  /// Reclaims what is free and kept, or waits for the lane that does.
  /// \param seen of `reclaims`, before the attempt that failed
  /// \return whether another attempt is worthwhile: something was reclaimed since
  ///
  /// Ends: the lane that reclaims waits for locks of lists alone.
  WARPHEAP_DEVICE bool reclaim(std::uint32_t seen) const {
    const simt::atomic_ref<std::uint32_t> reclaims(words_->reclaims);
    std::uint32_t now = reclaims.load(simt::order::acquire);
    if (now == seen && now % 2 == 0) {
      // Acquire pairs with the exchange in `reclaim_all`: the lane that took the notes down has
      // made `reclaims` odd before, so the second look tells whether one has.
      if (simt::atomic_ref(words_->idle).load(simt::order::acquire) == 0) {
        if (reclaims.load(simt::order::acquire) == now) return false;
      } else if (reclaims.compare_exchange(now, now + 1, simt::order::acquire)) {
        reclaim_all();
        reclaims.store(now + 2, simt::order::release);
        return true;
      }
    }
    // Release and acquire: what was reclaimed is visible to the lanes that waited.
    while (reclaims.load(simt::order::acquire) % 2 != 0) simt::backoff(500);
    return true;
  }

  WARPHEAP_DEVICE bool is_reclaiming() const { return reclaims() % 2 != 0; }

 private:
  static constexpr std::uint32_t idle_slabs = 1;
  static constexpr std::uint32_t idle_pairs = 2;
  static constexpr int patience = 64;

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
    const std::uint32_t before = table_.add_free(slab, items).count();
    if (before == 0) lists_.settle(list, slab);
    lists_.units(list).signal(items);
    if (before + items == items_of(list) && !retire<Chunks>(list, slab, true)) {
      note_idle_slab(list / lists_each);
    }
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

  /// Release: with the note comes the count that it is about.
  WARPHEAP_DEVICE void note_idle_slab(std::uint32_t arena) const {
    // The lane that sets the arena's flag sets the heap's.
    if (lists_.idle(chunks_of(arena)).fetch_or(1, simt::order::acq_rel) == 0) {
      note_idle(idle_slabs);
    }
  }
  WARPHEAP_DEVICE void note_idle(std::uint32_t what) const {
    simt::atomic_ref(words_->idle).fetch_or(what, simt::order::acq_rel);
  }

  /// Notes are cleared before the slabs that they are about are searched, so none is lost.
  WARPHEAP_DEVICE void reclaim_all() const {
    simt::atomic_ref(words_->idle).exchange(0, simt::order::acq_rel);
    for (std::uint32_t arena = 0; arena < count_; ++arena) {
      const std::uint32_t chunks = chunks_of(arena);
      if (lists_.idle(chunks).exchange(0, simt::order::acq_rel) == 0) continue;
      for (std::uint32_t list = list_of(arena, 0); list < chunks; ++list) {
        retire_idle<false>(list);
      }
      retire_idle<true>(chunks);
    }
    if (!buddy_.merge_pairs()) note_idle(idle_pairs);
  }

  /// Retires the slabs of a list that are wholly free. Ends: a list has no more slabs than there
  /// are pages, and steps are counted, because other lanes may move the current slab to another
  /// list.
  template <bool Chunks>
  WARPHEAP_DEVICE void retire_idle(std::uint32_t list) const {
    std::uint32_t slab = lists_.head(list).load(simt::order::relaxed);
    for (std::uint32_t step = 0; slab != slab_table::none && step < table_.pages(); ++step) {
      const std::uint32_t next = table_.next(slab).load(simt::order::relaxed);
      const page_state state = table_.state(slab);
      if (state.is_slab_of(list) && state.count() == items_of(list) &&
          !retire<Chunks>(list, slab, false)) {
        note_idle_slab(list / lists_each);
      }
      slab = next;
    }
  }

  WARPHEAP_DEVICE static std::uint32_t hash() {
    return static_cast<std::uint32_t>(simt::noise() >> 32);
  }

  reclaim_words* words_ = nullptr;
  std::uint32_t count_ = 0;
  buddy_tree buddy_;
  slab_lists lists_;
  slab_table table_;
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
