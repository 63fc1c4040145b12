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
  static constexpr std::uint32_t most_patience = 16;
  static constexpr std::uint32_t price_of_look = 1;
  static constexpr std::uint32_t price_of_trim = 8;

  /// What a trim returns at least, if there is as much. Most of it is for requests that come after
  /// its own: if each trim returned memory for one of them, the next one would begin at once
  /// (docs/decisions/0046).
  struct trim_goal {
    /// Of a Memoryblock that is to be free.
    std::uint32_t units;
    /// In all; 0 after `most_looks` at Superblocks, because others wait.
    std::uint32_t share;
    std::uint32_t looks = most_looks;

    static constexpr std::uint32_t most_looks = 1024;

    WARPHEAP_DEVICE bool is_reached(const memoryblocks<Config>& memory) const {
      return share == 0 && !memory.is_out(units);
    }
    WARPHEAP_DEVICE void looked(std::uint32_t returned) {
      share = --looks == 0 || returned >= share ? 0 : share - returned;
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
  // stack, 80 bytes for `malloc`; up to 112 more hold the registers that such a function saves.
  WARPHEAP_RARE static std::uint32_t price_apart(const supply& self, bool basic, std::uint32_t cls,
                                                 std::uint32_t units, glance before) {
    return self.price_of_another_try(basic, cls, units, before);
  }

  /// Apart from the rest of a trim, which needs many registers by itself.
  WARPHEAP_RARE static void retire_apart(const supply& self, std::uint32_t cls, trim_goal& goal) {
    self.retire_superblocks(cls, goal);
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
    std::uint32_t price = 0;
    same.sync();  // what members have freed comes before what the leader finds for them
    if (same.is_leader()) price = price_for_all(basic, cls, units, before);
    same.sync();  // what the leader has acquired is the members' as well
    price = same.broadcast(price);
    if (price != 0 || memory().is_out(units)) return price;
    simt::backoff(pause);
    return price_of_look;
  }

  /// Like `price_of_another_try`, but for memory that members may find in the heap.
  WARPHEAP_DEVICE std::uint32_t price_for_all(bool basic, std::uint32_t cls, std::uint32_t units,
                                              const glance& before) const {
    if (is_trimming()) {
      // Ends: the lane that trims waits for no lane that waits here.
      std::uint32_t wait = pause;
      do {
        simt::backoff(wait);
        wait = wait < longest_pause ? 2 * wait : longest_pause;
      } while (is_trimming());
      return price_after_trim();
    }
    // Otherwise, callers have blocks of all Superblocks, and a trim cannot return any.
    if (blocks().any_unused()) {
      if (!trim(units)) simt::backoff(pause);
      return price_after_trim();
    }
    if (basic && basics_.any_buffered(cls)) {
      simt::backoff(pause);
      return price_of_look;
    }
    const glance now = look(basic, cls);
    const bool quiet = now.moves == before.moves && now.trims == before.trims &&
                       basics::in_progress(now.moves) == 0;
    if (quiet) return 0;
    simt::backoff(pause);
    return price_of_look;
  }

  /// Others may take what a trim has returned. As long as callers have no block of some Superblock,
  /// another one may bring more.
  WARPHEAP_DEVICE std::uint32_t price_after_trim() const {
    return blocks().any_unused() ? price_of_look : price_of_trim;
  }

  WARPHEAP_DEVICE bool is_trimming() const {
    return simt::atomic_ref(*trims_).load(simt::order::acquire) % 2 != 0;
  }

  /// Returns the Basicblocks in lists to their Superblocks, and then the memory of free
  /// Superblocks, until a Memoryblock of `units` is free and some more. False if another lane
  /// trims.
  ///
  /// Ends: it takes no more out of a FIFO than was in it when it got to that FIFO.
  WARPHEAP_DEVICE bool trim(std::uint32_t units) const {
    const simt::atomic_ref trims(*trims_);
    std::uint64_t seen = trims.load(simt::order::relaxed);
    // Acquire pairs with the release of the trim before.
    if (seen % 2 != 0 || !trims.compare_exchange(seen, seen + 1, simt::order::acquire)) {
      return false;
    }
    trim_goal goal{units, memory().units() / share_of_heap};
    for (std::uint32_t cls = 0; cls < sizes::classes && !goal.is_reached(memory()); ++cls) {
      for (std::uint32_t i = 0; i < sizes::lists; ++i) empty_list(cls, buffered().list(cls, i));
      simt::call_apart(&retire_apart, *this, cls, goal);
    }
    trims.fetch_add(1, simt::order::release);  // pairs with `look`
    return true;
  }

  WARPHEAP_DEVICE void empty_list(std::uint32_t cls, const typename fifos::fifo& list) const {
    for (std::int64_t left = fifos::count(list); left > 0 && blocks().any_unused(); --left) {
      std::uint32_t unit = none;
      if (!fifos::pop(alone(), list, unit)) return;
      basics_.return_block(cls, blocks().block_in(unit));
    }
  }

  WARPHEAP_DEVICE void retire_superblocks(std::uint32_t cls, trim_goal& goal) const {
    const auto second = buffered().second(cls);
    for (std::int64_t left = fifos::count(second); left > 0 && blocks().any_unused(); --left) {
      std::uint32_t superblock = none;
      if (!fifos::pop(alone(), second, superblock)) return;
      const std::uint32_t units = blocks().retire(superblock);
      if (units == 0) buffered().push_second(cls, superblock);
      goal.looked(units);
      if (goal.is_reached(memory())) return;
    }
  }

  /// Odd while a lane trims.
  std::uint64_t* trims_ = nullptr;
  basics basics_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
