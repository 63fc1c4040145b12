// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Finds misuse of any manager of blocks.
///
/// Every block has a guard before and after it. All bytes of the guards are checked when the block
/// is freed and when the host asks. What is known about a block (its size, the lane that allocated
/// it, the lane that freed it) is kept in a table apart from the blocks and is sealed, so that no
/// stray write can make the layer follow a wrong pointer. The lane that swaps itself into the
/// record's `freed` owns the free, so exactly one of any number of frees of a block reaches the
/// manager. Freed bytes are poisoned. With a quarantine, writes to freed blocks are found as well.
///
/// How a damaged guard is explained: a write that began at a block's end is an overrun of that
/// block; one that ended at a block's start is an underrun. If all bytes between two blocks were
/// written, or only some in the middle, the cause is unclear, and the incident names both blocks
/// (`overwritten`). Each gap is reported once.
///
/// Layout: [ log ][ quarantine: u64s ][ records: 24 B for each 64 B ][ the manager's region ]
///   block: [ guard 32 B ][ the caller's bytes ][ guard 32 to 47 B ]
///
/// Many managers keep data of their own directly before a block, where no guard is, and follow it
/// when the block is freed. So a block is not given back, and is lost until a reset, if a write
/// crossed
/// - the start of its front guard, in either direction;
/// - the end of its rear guard, in either direction: its memory is next to what is damaged, and its
///   own guard stays the sign by which the block above it is lost as well;
/// - the end of the rear guard of the block below it, however large that is, if that guard ends at
///   most 192 bytes below the block's own front guard.
/// So no free follows what a write between two blocks has damaged, whichever of the two is freed
/// first, if the write leaves no byte out and is over when the manager gets the first of them. Not
/// covered is what the manager follows otherwise: what it keeps elsewhere, such as at the start of
/// a chunk of many blocks or in memory that is free, and what a malloc reads before blocks in use.
///
/// Cost: 27 % of the heap for the records, and 64 to 79 bytes for each block. A malloc costs three
/// or four stores and the guards; a free costs one compare-exchange, the block's guards and its
/// neighbour's (with a quarantine, twice), and a write to each byte. Only a wrong free or a damaged
/// guard costs a search for neighbours, which is O(heap) in the worst case. Do not measure times
/// with this layer.
///
/// Progress: correct uses never wait. A lane that has found damage waits for others that report
/// some; those wait for nothing, and once the log is full no lane waits. When the manager returns
/// null, the quarantine is emptied once, slot by slot, before the request fails.

#include "warpheap/heap/call_counts.hpp"
#include "warpheap/heap/capabilities.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/layers/checked/gaps.hpp"
#include "warpheap/heap/layers/checked/guards.hpp"
#include "warpheap/heap/layers/checked/incident_log.hpp"
#include "warpheap/heap/layers/checked/leaks.hpp"
#include "warpheap/heap/layers/checked/quarantine.hpp"
#include "warpheap/heap/layers/checked/records.hpp"
#include "warpheap/heap/manager.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct checked_config {
  /// The number of misuses that are recorded; further ones are only counted.
  std::uint32_t log_entries = 1024;
  /// The number of freed blocks that are kept back, and checked before the manager gets them. Until
  /// then they count as in use.
  std::uint32_t quarantine_blocks = 0;
};

/// No block of such a manager lies outside its region, where the layer has no guards and records.
template <class M>
concept keeps_blocks_in_region = block_manager<M> && M::about.blocks_in_region;

/// `heap::incidents()` lists what was found; the heap's destructor prints it to stderr.
template <keeps_blocks_in_region M, checked_config Config = checked_config{}>
class checked {
  using known_block = checking::known_block;
  using table = checking::block_table;

 public:
  using options = typename M::options;

  static constexpr capabilities about = [] {
    capabilities inner = M::about;
    inner.largest_block = checking::largest_within(inner.largest_block);
    inner.alignment = least_alignment;
    inner.growth = false;
    return inner;
  }();
  static_assert(!hears_failures<M>, "on_failure must be the outermost layer");

  checked(const region& memory, const simt::device_properties& machine, const options& settings)
      : checked(parts(memory), machine, settings) {}

  WARPHEAP_HD std::size_t largest_block() const {
    return checking::largest_within(inner_.largest_block());
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    log_.format(rank);
    table_.format(rank, count);
    retired_.format(rank, count);
    inner_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    void* front = inner_.malloc(checking::footprint(bytes));
    if (front == nullptr && Config.quarantine_blocks != 0) {
      empty_quarantine();
      front = inner_.malloc(checking::footprint(bytes));
    }
    if (front == nullptr) return nullptr;
    std::byte* block = static_cast<std::byte*>(front) + checking::front_bytes;
    checking::put_guards(block, bytes);
    table_.add(block, bytes, caller::here(tag_));
    return block;
  }

  WARPHEAP_DEVICE void free(void* pointer) const {
    WARPHEAP_ASSERT(pointer != nullptr);
    const caller me = caller::here(tag_);
    bool damaged = false;
    const known_block mine = table_.at(static_cast<std::byte*>(pointer), damaged);
    if (!mine) {
      report_foreign(pointer, damaged, me);
      return;
    }
    caller first;
    if (!table::claim(mine, me, first)) {
      incident what = checking::about_block(incident::kind::double_free, mine, pointer, me);
      what.freed = first;
      log_.add(what);
      return;
    }
    const bool intact = gaps().examine(mine, me);
    checking::write(mine.block, mine.bytes, checking::poison_byte);
    // What a manager keeps beside its blocks is not to be trusted when a write went across it.
    if (!intact) return;
    if (Config.quarantine_blocks == 0) {
      table::retire(mine);
      inner_.free(mine.front());
    } else {
      release(retired_.replace(mine.block), me);
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    inner_.inspect(rank, count, findings);
  }

  /// 0 of what is not a live block, so that a `realloc` of it comes to `free`, which reports it.
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    bool damaged = false;
    const known_block mine = table_.at(static_cast<std::byte*>(block), damaged);
    return mine && table::is_live(mine) ? mine.bytes : 0;
  }

  /// A copy whose calls are reported with this tag, below 2^22.
  WARPHEAP_HD checked tagged(std::uint32_t tag) const {
    checked same = *this;
    same.tag_ = tag;
    return same;
  }

  /// What a layer behind this one counts. Bytes and blocks are those that this layer asks for.
  WARPHEAP_HD const call_counts* counts() const requires counts_calls<M> { return inner_.counts(); }

  /// What was found so far, after a look at all blocks that are in use or in quarantine, and a sum
  /// of those in use as leaks. O(heap).
  incident_report incidents(const device& on) const;

  /// Looks at all blocks. Called by every lane of a grid while no lane allocates.
  WARPHEAP_DEVICE void examine_all(std::uint64_t rank, std::uint64_t count) const {
    bool damaged = false;
    for (std::uint64_t i = rank; i < table_.size(); i += count) {
      damaged = false;
      const known_block block = table_.look(i, damaged);
      if (block && table::is_live(block)) gaps().examine(block, caller{});
      if (damaged && table_.is_news(i)) {
        log_.add({incident::kind::damaged_record, checking::address(table_.records() + i)});
      }
    }
    for (std::uint64_t i = rank; i < retired_.size(); i += count) {
      if (const known_block block = table_.at(retired_.look(i), damaged)) {
        examine_poison(block, caller{});
      }
    }
  }

 private:
  static constexpr std::size_t alignment = 128;

  /// Where everything lies.
  struct parts {
    explicit parts(const region& memory) {
      constexpr std::size_t each = table::granule + sizeof(checking::block_record);
      const std::size_t most = memory.bytes / each;
      lay_out_most(memory, about.name, std::size_t{1}, most < 1 ? 1 : most,
                   [this](region_cursor& cursor, std::size_t granules) {
                     auto* words = cursor.take<std::uint64_t>(checking::incident_log::words);
                     log = {words, cursor.take<incident>(Config.log_entries), Config.log_entries};
                     auto* turns = cursor.take<std::uint64_t>(1);
                     retired = {turns, cursor.take<std::uint64_t>(Config.quarantine_blocks),
                                Config.quarantine_blocks};
                     auto* records = cursor.take<checking::block_record>(granules);
                     blocks.bytes = granules * table::granule;
                     blocks.base = cursor.take<std::byte>(blocks.bytes, alignment);
                     records_of_all = {records, blocks.base, blocks.bytes};
                   });
    }
    checking::incident_log log;
    checking::quarantine retired;
    checking::block_table records_of_all;
    region blocks;
  };

  checked(const parts& where, const simt::device_properties& machine, const options& settings)
      : log_(where.log),
        retired_(where.retired),
        table_(where.records_of_all),
        inner_(
            where.blocks, machine,
            with_block_overhead<M>(settings, checking::front_bytes + checking::least_rear_bytes)) {}

  WARPHEAP_DEVICE checking::gaps gaps() const { return {table_, log_}; }

  /// A free of what is not the start of a block.
  WARPHEAP_DEVICE void report_foreign(const void* pointer, bool damaged, caller by) const {
    const auto* place = static_cast<const std::byte*>(pointer);
    known_block around;
    if (place >= table_.base() && place < table_.base() + table_.size() * table::granule) {
      around = table_.at_or_before(place);
      if (around && place >= around.end()) around = {};
    }
    const auto what = damaged  ? incident::kind::damaged_record
                      : around ? incident::kind::interior_free
                               : incident::kind::foreign_free;
    log_.add(checking::about_block(what, around, pointer, by));
  }

  /// Reports a write to a freed block, once.
  WARPHEAP_DEVICE void examine_poison(const known_block& mine, caller by) const {
    const auto found = checking::damage_of(mine.block, mine.bytes, checking::poison_byte);
    if (!found.any) return;
    if ((table::set(mine, table::late_write_reported) & table::late_write_reported) != 0) return;
    incident what = checking::about_block(incident::kind::use_after_free, mine, found.where, by);
    what.freed = mine.freed();
    log_.add(what);
  }

  /// Gives a block that was in quarantine to the manager. Null is ignored.
  WARPHEAP_DEVICE void release(std::byte* block, caller by) const {
    if (block == nullptr) return;
    bool damaged = false;
    if (const known_block mine = table_.at(block, damaged)) {
      examine_poison(mine, by);
      // A neighbour may have written across its ends since it was freed.
      if (!gaps().examine(mine, by)) return;
      table::retire(mine);
    }
    inner_.free(block - checking::front_bytes);
  }

  WARPHEAP_DEVICE void empty_quarantine() const {
    const simt::group together = simt::coalesced(table_.base());
    const auto step = static_cast<std::uint64_t>(together.size());
    for (auto i = static_cast<std::uint64_t>(together.rank()); i < retired_.size(); i += step) {
      release(retired_.take(i), caller::here(tag_));
    }
    together.sync();  // no lane asks again before all was given back
  }

  checking::incident_log log_;
  checking::quarantine retired_;
  checking::block_table table_;
  M inner_;
  std::uint32_t tag_ = 0;
};

namespace checking {

template <class Checked>
struct examine_lanes {
  Checked layer;
  WARPHEAP_DEVICE void operator()() const {
    layer.examine_all(simt::thread_rank(), simt::grid_size());
  }
};

}  // namespace checking

template <keeps_blocks_in_region M, checked_config Config>
incident_report checked<M, Config>::incidents(const device& on) const {
  on.launch(simt::grid::covering(on.properties().resident_threads),
            checking::examine_lanes<checked>{*this});
  on.synchronize();
  incident_report report;
  log_.read(on, report);
  report.leaks = checking::leaks_of(on, table_);
  return report;
}

WARPHEAP_END_NAMESPACE
