// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where blocks come from and go to: Basicblocks first, then Memoryblocks; and the trim, which
/// takes what the FIFOs hold back to the Memoryblocks.
///
/// Progress and null: see xmalloc.hpp.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/basicblocks.hpp"
#include "warpheap/managers/xmalloc/fifos.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/superblocks.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
class supply {
  using sizes = geometry<Config>;
  using fifos = xmalloc_parts::fifos<Config>;
  using basics = basicblocks<Config>;

 public:
  supply() = default;
  /// \param refills groups of a class that may split Superblocks at once
  supply(region_cursor& cursor, std::uint32_t units, std::uint32_t refills)
      : trims_(cursor.take<std::uint64_t>(1, 128)), basics_(cursor, units, refills) {}

  WARPHEAP_HD const fifos& buffered() const { return basics_.buffered(); }
  WARPHEAP_HD const superblocks<Config>& blocks() const { return basics_.supers(); }
  WARPHEAP_HD const memoryblocks<Config>& memory() const { return basics_.memory(); }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *trims_ = 0;
    basics_.format(rank, count);
  }

  /// A Basicblock or Memoryblock of `bytes`, or null.
  WARPHEAP_DEVICE std::byte* take(std::size_t bytes) const {
    const bool basic = bytes <= sizes::largest_basic;
    const std::uint32_t cls = basic ? sizes::class_of(bytes) : 0;
    const std::uint32_t units = sizes::units_for(bytes);
    std::uint32_t wait = shortest_wait;
    for (std::uint32_t patience = most_patience;;) {
      const glance before = look(basic, cls);
      if (basic) {
        std::byte* block = nullptr;
        const auto came = basics_.take(cls, block);
        if (block != nullptr) return block;
        if (came == basics::outcome::others_served) {
          // Ends: each time, another lane has taken blocks, or makes some; see xmalloc.hpp.
          simt::backoff(wait);
          wait = wait < longest_wait ? 2 * wait : longest_wait;
          continue;
        }
      }
      // Not where a Superblock fits, which serves more requests: that memory arrived after this
      // lane looked.
      const std::uint32_t unit = simt::call_apart(&take_memory_apart, memory(), units,
                                                  basic ? sizes::least_units(cls) : 0u);
      if (unit != none) return memory().bytes_of(unit);
      const std::uint32_t price = simt::call_apart(&price_apart, *this, basic, cls, units, before);
      if (price == 0 || price > patience) return nullptr;
      patience -= price;
    }
  }

  /// Frees what `take` returned.
  WARPHEAP_DEVICE void give(std::byte* block) const {
    const block_word word(word_before(block));
    if (word.kind() == block_kind::memory) {
      memory().give(memory().unit_of(block));
    } else if (word.kind() == block_kind::basic) {
      basics_.give(block, word.cls());
    }
  }

  // Only while no lane allocates.

  /// Moves and trims that have not ended.
  WARPHEAP_DEVICE bool moves() const {
    bool any = *trims_ % 2 != 0;
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      any = any || basics::in_progress(basics_.look_at_moves(cls)) != 0;
    }
    return any;
  }

 private:
  // Nanoseconds: about the time of a refill, and of a trim at which thousands of lanes look.
  static constexpr std::uint32_t pause = 500;
  static constexpr std::uint32_t longest_pause = 32000;
  // While others refill: many lanes look at the same words, and delay those that refill.
  static constexpr std::uint32_t shortest_wait = 250;
  static constexpr std::uint32_t longest_wait = 16000;
  /// How much a lane that finds nothing spends before it gives up: only a few looks, because when a
  /// hundred thousand lanes find nothing, the words at which they look serve one of them at a time.
  /// Where more Superblocks are unused than a trim looks at, the next one brings as much again.
  static constexpr std::uint32_t most_patience = 1024;
  static constexpr std::uint32_t price_of_look = 64;
  static constexpr std::uint32_t price_of_trim = 512;
  static constexpr std::uint32_t price_beside_plenty = 1;

  /// What a trim returns at least, if there is as much. Most of it is for requests that come after
  /// its own: if each trim returned memory for one of them, the next one would begin at once
  /// (docs/decisions/0046).
  struct trim_goal {
    /// Of a Memoryblock that is to be free.
    std::uint32_t units;
    /// In all; 0 after `most_looks` at Superblocks, because others wait.
    std::uint32_t share;
    int looks = most_looks;

    static constexpr int most_looks = 1024;

    WARPHEAP_DEVICE bool is_reached(const memoryblocks<Config>& memory) const {
      return share == 0 && !memory.is_out(units);
    }
    WARPHEAP_DEVICE void looked(int superblocks, std::uint32_t returned) {
      looks -= superblocks;
      share = looks <= 0 || returned >= share ? 0 : share - returned;
    }
  };
  /// A trim returns the heap divided by this number.
  static constexpr std::uint32_t share_of_heap = 8;

  /// The moves and trims that hide blocks for a while, as a lane saw them.
  struct glance {
    std::uint64_t moves;
    std::uint64_t trims;
  };

  /// Acquire pairs with the release of a trim's end: what it has returned is seen after it.
  WARPHEAP_DEVICE glance look(bool basic, std::uint32_t cls) const {
    return {basic ? basics_.look_at_moves(cls) : 0,
            simt::atomic_ref(*trims_).load(simt::order::acquire)};
  }

  // Out-of-line functions get the handle by its address. So a kernel keeps a copy of it on its
  // stack, 120 bytes for `malloc`; up to 136 more hold the registers that such a function saves.
  WARPHEAP_RARE static std::uint32_t price_apart(const supply& self, bool basic, std::uint32_t cls,
                                                 std::uint32_t units, glance before) {
    return self.price_of_another_try(basic, cls, units, before);
  }

  WARPHEAP_RARE static void trim_apart(const supply& self, simt::group same, std::uint32_t units) {
    self.trim(same, units);
  }
  /// Apart from the rest of a trim, which needs many registers by itself.
  WARPHEAP_RARE static std::uint32_t retire_apart(const supply& self, simt::group same,
                                                  std::uint32_t cls) {
    return self.retire_superblock(same, cls);
  }

  WARPHEAP_RARE static std::uint32_t take_memory_apart(const memoryblocks<Config>& from,
                                                       std::uint32_t units, std::uint32_t kept) {
    return from.take(units, kept);
  }

  /// The cost of another attempt for a lane that found nothing anywhere; 0 if there is no hope. One
  /// lane looks for all that call together.
  WARPHEAP_DEVICE std::uint32_t price_of_another_try(bool basic, std::uint32_t cls,
                                                     std::uint32_t units,
                                                     const glance& before) const {
    const simt::group same = simt::coalesced(trims_).match(basic ? cls : sizes::classes);
    prospect found{0, false};
    same.sync();  // what members have freed comes before what the leader finds for them
    if (same.is_leader()) found = prospect_for_all(basic, cls, before);
    if (same.any(found.begins_trim)) {
      simt::call_apart(&trim_apart, *this, same, units);
      found.price = price_after_trim();
    }
    same.sync();  // what the leader has acquired is the members' as well
    const std::uint32_t price = same.broadcast(found.price);
    if (price != 0 || memory().is_out(units)) return price;
    simt::backoff(pause);
    return price_of_look;
  }

  /// What a leader sees for its group.
  struct prospect {
    /// Of another try; 0 if there is no hope.
    std::uint32_t price;
    /// The leader has begun a trim, which its group makes.
    bool begins_trim;
  };

  /// What the leader sees, except for memory that members may find in the heap.
  WARPHEAP_DEVICE prospect prospect_for_all(bool basic, std::uint32_t cls,
                                            const glance& before) const {
    if (is_trimming()) {
      // Ends: the lanes that trim wait for no lane that waits here.
      std::uint32_t wait = pause;
      do {
        simt::backoff(wait);
        wait = wait < longest_pause ? 2 * wait : longest_pause;
      } while (is_trimming());
      return {price_after_trim(), false};
    }
    // Otherwise, callers have blocks of all Superblocks, and a trim cannot return any.
    if (blocks().any_unused()) {
      if (begin_trim()) return {0, true};
      simt::backoff(pause);
      return {price_after_trim(), false};
    }
    if (basic && basics_.any_buffered(cls)) {
      simt::backoff(pause);
      return {price_of_look, false};
    }
    const glance now = look(basic, cls);
    const bool quiet = now.moves == before.moves && now.trims == before.trims &&
                       basics::in_progress(now.moves) == 0;
    if (quiet) return {0, false};
    simt::backoff(pause);
    return {price_of_look, false};
  }

  /// Others may take what a trim has returned. As long as callers have no block of some Superblock,
  /// another one may bring more.
  WARPHEAP_DEVICE std::uint32_t price_after_trim() const {
    if (blocks().any_unused(trim_goal::most_looks)) return price_beside_plenty;
    return blocks().any_unused() ? price_of_look : price_of_trim;
  }

  WARPHEAP_DEVICE bool is_trimming() const {
    return simt::atomic_ref(*trims_).load(simt::order::acquire) % 2 != 0;
  }

  /// False if another lane trims, or has begun to since the caller looked.
  WARPHEAP_DEVICE bool begin_trim() const {
    const simt::atomic_ref trims(*trims_);
    std::uint64_t seen = trims.load(simt::order::relaxed);
    // Acquire pairs with the release of the trim before.
    return seen % 2 == 0 && trims.compare_exchange(seen, seen + 1, simt::order::acquire);
  }

  /// Returns the Basicblocks in lists to their Superblocks, and then the memory of free
  /// Superblocks, until a Memoryblock of the leader's `units` is free and some more. A collective;
  /// each member takes one entry of a FIFO at a time. \pre the leader has begun a trim
  ///
  /// Ends: it takes no more out of a FIFO than was in it when it got to that FIFO, and a few that
  /// the last step takes.
  WARPHEAP_DEVICE void trim(const simt::group& same, std::uint32_t units) const {
    trim_goal goal{same.broadcast(units), memory().units() / share_of_heap};
    same.sync();  // what the leader has acquired is the members' as well
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      if (same.any(same.is_leader() && goal.is_reached(memory()))) break;
      for (std::uint32_t i = 0; i < sizes::lists; ++i) {
        empty_list(same, cls, buffered().list(cls, i));
      }
      retire_superblocks(same, cls, goal);
    }
    same.sync();  // what members have returned comes before what the leader releases
    if (same.is_leader()) {
      simt::atomic_ref(*trims_).fetch_add(1, simt::order::release);  // pairs with `look`
    }
  }

  /// The entries of a FIFO, for the group's leader alone.
  WARPHEAP_DEVICE static std::int64_t entries(const simt::group& same,
                                              const typename fifos::fifo& of) {
    return same.is_leader() ? fifos::count(of) : 0;
  }
  /// Whether the group shall take more of a FIFO, as its leader sees it.
  WARPHEAP_DEVICE bool goes_on(const simt::group& same, std::int64_t left, bool enough) const {
    return same.any(same.is_leader() && left > 0 && !enough && blocks().any_unused());
  }

  WARPHEAP_DEVICE void empty_list(const simt::group& same, std::uint32_t cls,
                                  const typename fifos::fifo& list) const {
    for (std::int64_t left = entries(same, list); goes_on(same, left, false); left -= same.size()) {
      std::uint32_t unit = none;
      if (fifos::pop(same, list, unit)) basics_.return_block(cls, blocks().block_in(unit));
      same.sync();
    }
  }

  WARPHEAP_DEVICE void retire_superblocks(const simt::group& same, std::uint32_t cls,
                                          trim_goal& goal) const {
    bool enough = false;
    for (std::int64_t left = entries(same, buffered().second(cls)); goes_on(same, left, enough);
         left -= same.size()) {
      const std::uint32_t units = simt::call_apart(&retire_apart, *this, same, cls);
      same.sync();
      goal.looked(same.size(), sync::sum_over(same, units).total);
      enough = goal.is_reached(memory());
    }
  }
  /// The units of the Superblock that the caller has returned; 0: none. A collective.
  WARPHEAP_DEVICE std::uint32_t retire_superblock(const simt::group& same,
                                                  std::uint32_t cls) const {
    std::uint32_t superblock = none;
    if (!fifos::pop(same, buffered().second(cls), superblock)) return 0;
    const std::uint32_t units = blocks().retire(superblock);
    if (units == 0) buffered().push_second(cls, superblock);
    return units;
  }

  /// Odd while a lane trims.
  std::uint64_t* trims_ = nullptr;
  basics basics_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
