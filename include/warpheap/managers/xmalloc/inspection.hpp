// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks the numbered invariants of managers/xmalloc/xmalloc.hpp, and counts what is in use.

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/xmalloc/coalescing.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/supply.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

/// Lives for one call, while no lane allocates.
template <xmalloc_config Config>
class inspector {
  using sizes = geometry<Config>;
  using fifo = typename fifos<Config>::fifo;

 public:
  WARPHEAP_DEVICE inspector(const supply<Config>& all, inspection& findings)
      : all_(all), findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    // Each of some lanes walks the whole list, and looks into its share of the blocks.
    const std::uint64_t walkers = count < most_walkers ? count : most_walkers;
    if (rank < walkers) walk(rank, walkers);
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      for (std::uint32_t i = 0; i < sizes::lists; ++i) {
        const fifo list = all_.buffered().list(cls, i);
        const std::uint64_t number = cls * sizes::lists + i;
        if (rank == 0) counts(list, all_.buffered().list_blocks(), number);
        each_entry(list, all_.buffered().list_blocks(), rank, count, number,
                   [&](std::uint32_t unit) { cached_block(cls, unit, number); });
      }
      const fifo second = all_.buffered().second(cls);
      const std::uint64_t number = sizes::classes * sizes::lists + cls;
      const std::uint64_t slots = all_.buffered().second_blocks(cls);
      if (rank == 0) counts(second, slots, number);
      each_entry(second, slots, rank, count, number, [&](std::uint32_t unit) {
        findings_.expect(is_superblock(unit) && all_.blocks().cls(unit) == cls &&
                             (all_.blocks().state(unit) & superblocks<Config>::held) != 0,
                         3, number);
      });
    }
    if (rank == 0) findings_.expect(!all_.moves() && !any_locked(), 9, 0);
  }

 private:
  static constexpr std::uint64_t most_walkers = 256;

  WARPHEAP_DEVICE void counts(const fifo& of, std::uint64_t slots, std::uint64_t number) const {
    const std::uint64_t entries = of.positions().size();
    findings_.expect(static_cast<std::uint64_t>(of.items().read().count) == entries &&
                         static_cast<std::uint64_t>(of.room().read().count) + entries == slots,
                     1, number);
  }

  template <class Check>
  WARPHEAP_DEVICE void each_entry(const fifo& of, std::uint64_t slots, std::uint64_t rank,
                                  std::uint64_t count, std::uint64_t number,
                                  const Check& check) const {
    // Ends that are wrong may be 2^64 entries apart; `counts` tells.
    const std::uint64_t entries = of.positions().size();
    for (std::uint64_t i = rank; i < (entries < slots ? entries : slots); i += count) {
      std::uint64_t value = 0;
      const bool there =
          of.positions().peek(of.positions().first() + i, value) && value < all_.memory().units();
      findings_.expect(there, 1, number);
      if (there) check(static_cast<std::uint32_t>(value));
    }
  }

  /// Only for units that a FIFO contains: a unit inside a block has no header.
  WARPHEAP_DEVICE bool is_superblock(std::uint32_t unit) const {
    return all_.memory().at(unit).state == memory_state::superblock;
  }

  /// A Basicblock in a list. It counts as in use in its Superblock's map, and not here.
  WARPHEAP_DEVICE void cached_block(std::uint32_t cls, std::uint32_t unit,
                                    std::uint64_t number) const {
    std::byte* const block = all_.blocks().block_in(unit);
    const block_word word(word_before(block));
    const std::uint32_t distance = superblocks<Config>::distance(block);
    const std::uint32_t i = distance / sizes::block_units(cls);
    const bool known = word.kind() == block_kind::basic && word.cls() == cls &&
                       word.pieces() == 0 && distance <= unit && is_superblock(unit - distance) &&
                       i < sizes::superblock_blocks && i < all_.blocks().blocks(unit - distance) &&
                       all_.blocks().cls(unit - distance) == cls;
    findings_.expect(known && (all_.blocks().state(unit - distance) >> i & 1) == 0, 2, number);
    findings_.in_use(~std::uint64_t{0}, 0 - std::uint64_t{sizes::block_bytes(cls)});
  }

  WARPHEAP_DEVICE bool any_locked() const {
    bool any = false;
    for (std::uint32_t zone = 0; zone < by().count(); ++zone) {
      any = any || all_.memory().zones().lock_of(zone).is_locked();
    }
    return any;
  }

  WARPHEAP_DEVICE void walk(std::uint64_t rank, std::uint64_t walkers) const {
    std::uint64_t held = 0;
    std::int64_t unused = 0;
    std::uint64_t cached = 0;
    std::uint64_t i = 0;
    std::uint32_t unit = 0;
    for (std::uint32_t zone = 0; zone < by().count(); ++zone) {
      const bool mine = zone % walkers == rank;
      std::uint32_t prev = none;
      std::uint32_t head = 0;
      std::uint32_t tail = 0;
      std::uint64_t free_blocks = 0;
      // A block of a zone before may cover the front of this one, or all of it.
      for (; unit < by().end(zone); ++i) {
        const memory_head& block = all_.memory().at(unit);
        const bool is_free = block.state == memory_state::free;
        const std::uint32_t most =
            block.state == memory_state::block ? by().units() : by().end(zone);
        const bool sound = block.prev == prev && block.next > unit && block.next <= most &&
                           !(is_free && tail != 0) && block.state <= memory_state::superblock;
        if (rank == 0) findings_.expect(sound, 7, unit);
        if (!sound) return;
        tail = is_free ? block.next - unit : 0;
        if (is_free && unit == by().begin(zone)) head = tail;
        free_blocks += is_free;
        if (block.state == memory_state::superblock && rank == 0) {
          const std::uint64_t state = all_.blocks().state(unit);
          held += (state & superblocks<Config>::held) != 0;
          const std::uint32_t in_use = all_.blocks().in_use(unit);
          unused += in_use == 0;
          cached += all_.blocks().blocks(unit) - in_use -
                    static_cast<std::uint32_t>(popcount(static_cast<std::uint32_t>(state)));
        }
        if (i % walkers == rank) memory_block(unit, block.next - unit);
        prev = unit;
        unit = block.next;
      }
      if (mine) rooms(zone, head, tail, free_blocks);
    }
    if (rank != 0) return;
    std::uint64_t entries = 0;
    std::uint64_t blocks = 0;
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      entries += all_.buffered().second(cls).positions().size();
      for (std::uint32_t list = 0; list < sizes::lists; ++list) {
        blocks += all_.buffered().list(cls, list).positions().size();
      }
    }
    findings_.expect(entries == held && blocks == cached && all_.blocks().unused() == unused, 5, 0);
  }

  /// What is known of a zone without its lock is true, and each ring has all free blocks of its
  /// size, once: rings of others would have more or fewer together, or end in one that is of
  /// another size.
  WARPHEAP_DEVICE void rooms(std::uint32_t zone, std::uint32_t head, std::uint32_t tail,
                             std::uint64_t free_blocks) const {
    const auto& memory = all_.memory();
    const auto& room = memory.zones().room();
    findings_.expect(room.head(zone) == head && room.tail(zone) == tail && room.agrees(zone), 10,
                     zone);
    const auto free = memory.zones().free(zone);
    std::uint64_t left = free_blocks;
    for (int ring = 0; ring < free_ring_heads::rings; ++ring) {
      const std::uint32_t first = free.first(ring);
      findings_.expect(free.is_occupied(ring) == (first != none), 8, ring);
      if (first == none) continue;
      std::uint32_t unit = first;
      do {
        const bool is_free = left != 0 && unit >= by().begin(zone) && unit < by().end(zone) &&
                             memory.at(unit).state == memory_state::free &&
                             free.ring_of(memory.at(unit).next - unit) == ring;
        findings_.expect(is_free, 8, unit);
        if (!is_free) return;
        findings_.expect(!room.is_out(zone, memory.at(unit).next - unit), 10, zone);
        --left;
        unit = free.next(unit);
      } while (unit != first);
    }
    findings_.expect(left == 0, 8, by().end(zone));
  }

  WARPHEAP_DEVICE void memory_block(std::uint32_t unit, std::uint32_t units) const {
    const auto& head = all_.memory().at(unit);
    if (head.state == memory_state::superblock) {
      basic_blocks(unit, units);
    } else if (head.state == memory_state::block) {
      findings_.expect(block_word(head.word).kind() == block_kind::memory, 7, unit);
      block_in_use(unit, all_.memory().bytes_of(unit), std::uint64_t{units} * sizes::unit);
    }
  }

  WARPHEAP_DEVICE void basic_blocks(std::uint32_t superblock, std::uint32_t units) const {
    const std::uint32_t cls = all_.blocks().cls(superblock);
    const std::uint64_t state = all_.blocks().state(superblock);
    const auto map = static_cast<std::uint32_t>(state);
    // Blocks of a larger class would reach beyond the Superblock, and beyond the heap.
    const std::uint32_t blocks = all_.blocks().blocks(superblock);
    const bool fits = cls < sizes::classes && blocks >= sizes::least_blocks &&
                      blocks <= sizes::superblock_blocks &&
                      sizes::superblock_units(cls, blocks) <= units &&
                      (map & ~superblocks<Config>::map_of(blocks)) == 0 &&
                      ((state & superblocks<Config>::held) != 0) == (map != 0);
    findings_.expect(fits, 4, superblock);
    if (!fits) return;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      std::byte* const block = all_.blocks().block(superblock, cls, i);
      const block_word word(word_before(block));
      const bool is_free = (map >> i & 1) != 0;
      findings_.expect(word.kind() == block_kind::basic && word.cls() == cls &&
                           superblocks<Config>::distance(block) == i * sizes::block_units(cls) &&
                           (!is_free || word.pieces() == 0),
                       4, superblock);
      if (!is_free) block_in_use(superblock, block, sizes::block_bytes(cls));
    }
  }

  WARPHEAP_DEVICE void block_in_use(std::uint32_t unit, std::byte* block,
                                    std::uint64_t bytes) const {
    const std::uint32_t pieces = block_word(word_before(block)).pieces();
    if (pieces == 0) return findings_.in_use(1, bytes);
    const std::uint32_t live = coalescing<Config>::live(block);
    findings_.expect(live >= 1 && live <= pieces, 6, unit);
    findings_.in_use(live, bytes);
  }

  WARPHEAP_DEVICE const zones<Config>& by() const { return all_.memory().zones().by(); }

  const supply<Config>& all_;
  inspection& findings_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
