// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where blocks come from and go to: FIFOs of Basicblocks, Superblocks, Memoryblocks, in this
/// order; and the trim, which takes what is cached back to the Memoryblocks.
///
/// Progress and null: see xmalloc.hpp.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/buffers.hpp"
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
  using fifos = buffers<Config>;

 public:
  supply() = default;
  /// \param refills groups of a class that may split Superblocks at once
  supply(region_cursor& cursor, std::uint32_t units, std::uint32_t refills)
      : shared_(cursor.take<shared_words>(1)), refills_(refills) {
    buffers_ = fifos(cursor, units);
    const memory_heap<Config> memory(cursor, units);
    superblocks_ = superblocks<Config>(memory, cursor);
  }

  WARPHEAP_HD const fifos& buffered() const { return buffers_; }
  WARPHEAP_HD const superblocks<Config>& blocks() const { return superblocks_; }
  WARPHEAP_HD const memory_heap<Config>& memory() const { return superblocks_.memory(); }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) {
      for (auto& class_moves : shared_->moves) class_moves.word = 0;
      shared_->trims = 0;
    }
    buffers_.format(rank, count);
    superblocks_.format(rank);
    memory().format(rank);
  }

  /// A Basicblock or Memoryblock of `bytes`, or null.
  WARPHEAP_DEVICE std::byte* take(std::size_t bytes) const {
    const bool basic = bytes <= sizes::largest_basic;
    const std::uint32_t cls = basic ? sizes::class_of(bytes) : 0;
    const std::uint32_t units = sizes::units_for(bytes);
    for (std::uint32_t patience = most_patience;;) {
      const glance before = look(basic, cls);
      if (basic) {
        std::byte* block = nullptr;
        const outcome came = take_basic(cls, block);
        if (block != nullptr) return block;
        // Ends: each time, another lane has taken blocks, or makes some; see xmalloc.hpp.
        if (came == outcome::others_served) continue;
      }
      // Not where a Superblock fits, which serves more requests: it came after this lane looked.
      const std::uint32_t unit =
          memory().take(units, memory_state::block, basic ? sizes::superblock_units(cls) : 0);
      if (unit != none) return memory().bytes_of(unit);
      const std::uint32_t price = price_of_another_try(basic, cls, units, before);
      if (price == 0 || price > patience) return nullptr;
      patience -= price;
    }
  }

  /// Frees what `take` gave.
  WARPHEAP_DEVICE void give(std::byte* block) const {
    const block_word word(word_before(block));
    if (word.kind() == block_kind::memory) {
      memory().give(memory().unit_of(block));
    } else if (word.kind() == block_kind::basic) {
      give_basic(block, word.cls());
    }
  }

  // For the time when nobody allocates.

  /// Refills and trims that have not ended.
  WARPHEAP_DEVICE bool moves() const {
    bool any = shared_->trims % 2 != 0;
    for (const auto& class_moves : shared_->moves) {
      any = any || in_progress(class_moves.word) != 0;
    }
    return any;
  }

 private:
  // Nanoseconds: about the time of a refill.
  static constexpr std::uint32_t pause = 500;
  /// What a lane that finds nothing spends before it gives up.
  static constexpr std::uint32_t most_patience = 64;
  static constexpr std::uint32_t price_of_look = 1;
  static constexpr std::uint32_t price_of_trim = 8;

  enum class outcome { served, others_served, nothing };
  enum class entrance : std::uint32_t { open, crowded, nothing_to_refill_from };

  /// Moves of blocks between the levels that hide them meanwhile, as a lane found them.
  struct glance {
    std::uint64_t moves;
    std::uint64_t trims;
  };

  struct alignas(128) class_word {
    /// [ moves that have ended:32 | that are in progress:32 ]
    std::uint64_t word;
  };
  struct shared_words {
    class_word moves[sizes::classes];
    /// Odd while a lane trims.
    alignas(128) std::uint64_t trims;
  };

  static constexpr std::uint64_t move_begins = 1;
  static constexpr std::uint64_t move_ends = (std::uint64_t{1} << 32) - 1;

  WARPHEAP_DEVICE static std::uint32_t in_progress(std::uint64_t moves) {
    return static_cast<std::uint32_t>(moves);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> moves(std::uint32_t cls) const {
    return simt::atomic_ref<std::uint64_t>(shared_->moves[cls].word);
  }

  /// Acquire pairs with the release of a move's or trim's end: what was moved is seen after it.
  WARPHEAP_DEVICE glance look(bool basic, std::uint32_t cls) const {
    return {basic ? moves(cls).load(simt::order::acquire) : 0,
            simt::atomic_ref(shared_->trims).load(simt::order::acquire)};
  }

  // Basicblocks.

  /// One try of all lanes that call together for a class.
  WARPHEAP_DEVICE outcome take_basic(std::uint32_t cls, std::byte*& block) const {
    const simt::group same = simt::coalesced().match(cls);
    std::uint32_t list = none;
    if (same.is_leader()) list = buffers_.list_with_blocks(cls);
    list = same.broadcast(list);
    if (list == none) return refill(same, cls, block);
    std::uint32_t unit = none;
    if (!fifos::pop(same, buffers_.list(cls, list), unit)) return outcome::others_served;
    block = superblocks_.block_in(unit);
    return outcome::served;
  }

  /// The leader takes blocks of a Superblock for all members and some more, which go into a list.
  WARPHEAP_DEVICE outcome refill(const simt::group& same, std::uint32_t cls,
                                 std::byte*& block) const {
    const auto size = static_cast<std::uint32_t>(same.size());
    std::uint64_t found = std::uint64_t{none} << 32;
    entrance at = entrance::nothing_to_refill_from;
    if (same.is_leader() && may_refill(cls)) {
      at = enter(cls);
      if (at == entrance::open) {
        found = open_superblock(cls, size + sizes::superblock_blocks / 2);
      } else {
        simt::backoff(pause);
      }
    }
    at = same.broadcast(at);
    found = same.broadcast(found);
    const auto superblock = static_cast<std::uint32_t>(found >> 32);
    const auto blocks = static_cast<std::uint32_t>(found);
    same.sync();  // what the leader has acquired is the members' as well
    const auto got = static_cast<std::uint32_t>(popcount(blocks));
    const auto rank = static_cast<std::uint32_t>(same.rank());
    if (rank < got) {
      block = superblocks_.block(superblock, cls, nth(blocks, rank));
    }
    if (got > size) buffer_surplus(same, cls, superblock, blocks, size);
    // Release pairs with `look`.
    if (at == entrance::open && same.is_leader()) {
      moves(cls).fetch_add(move_ends, simt::order::release);
    }
    if (block != nullptr) return outcome::served;
    return at == entrance::nothing_to_refill_from ? outcome::nothing : outcome::others_served;
  }

  /// Begins a refill, unless as many are under way as may. A lane that may not leaves at once, and
  /// one that sees that it would not does not come, so that the number falls.
  WARPHEAP_DEVICE entrance enter(std::uint32_t cls) const {
    if (in_progress(moves(cls).load(simt::order::relaxed)) >= refills_) return entrance::crowded;
    // Acquire pairs with the release at the end of a refill: what earlier ones did comes first.
    if (in_progress(moves(cls).fetch_add(move_begins, simt::order::acquire)) < refills_) {
      return entrance::open;
    }
    moves(cls).fetch_add(move_ends, simt::order::relaxed);
    return entrance::crowded;
  }

  WARPHEAP_DEVICE bool may_refill(std::uint32_t cls) const {
    return fifos::count(buffers_.second(cls)) > 0 || !memory().is_out(sizes::superblock_units(cls));
  }

  /// Takes up to `wanted` blocks of one Superblock: [ its unit:32 | a bit for each block:32 ].
  WARPHEAP_DEVICE std::uint64_t open_superblock(std::uint32_t cls, std::uint32_t wanted) const {
    std::uint32_t superblock = none;
    typename superblocks<Config>::taken got{0, false};
    if (fifos::count(buffers_.second(cls)) > 0 &&
        fifos::pop(alone(), buffers_.second(cls), superblock)) {
      got = superblocks_.take(superblock, wanted);
    } else {
      superblock = superblocks_.carve(cls, wanted, got);
    }
    if (got.owns) buffers_.push_second(cls, superblock);
    return std::uint64_t{superblock} << 32 | got.blocks;
  }

  /// Puts the blocks behind the first `used` into a list, as far as it has room, and the others
  /// back.
  WARPHEAP_DEVICE void buffer_surplus(const simt::group& same, std::uint32_t cls,
                                      std::uint32_t superblock, std::uint32_t blocks,
                                      std::uint32_t used) const {
    const auto surplus = static_cast<std::uint32_t>(popcount(blocks)) - used;
    const auto list = buffers_.list(cls, same.broadcast(fifos::own_list()));
    std::uint32_t accepted = 0;
    const std::uint64_t first = list.reserve(same, surplus, accepted);
    for (auto i = static_cast<std::uint32_t>(same.rank()); i < accepted;
         i += static_cast<std::uint32_t>(same.size())) {
      list.positions().put(first + i, superblock + nth(blocks, used + i) * sizes::block_units(cls));
    }
    same.sync();
    if (!same.is_leader()) return;
    if (accepted != 0) list.items().signal(accepted);
    if (accepted != surplus) {
      const std::uint32_t first_left = nth(blocks, used + accepted);
      return_blocks(cls, superblock,
                    blocks & ~low_bits<std::uint32_t>(static_cast<int>(first_left)));
    }
  }

  WARPHEAP_DEVICE void give_basic(std::byte* block, std::uint32_t cls) const {
    const simt::group same = simt::coalesced().match(cls);
    const auto list = buffers_.list(cls, same.broadcast(fifos::own_list()));
    const bool kept = list.push(same, memory().unit_of(block));
    if (same.all(kept)) return;
    // A block whose Superblock a lane then owns hides others until that is in its FIFO.
    if (same.is_leader()) moves(cls).fetch_add(move_begins, simt::order::relaxed);
    same.sync();
    if (!kept) return_block(cls, block);
    same.sync();
    // Release pairs with `look`.
    if (same.is_leader()) moves(cls).fetch_add(move_ends, simt::order::release);
  }

  WARPHEAP_DEVICE void return_block(std::uint32_t cls, std::byte* block) const {
    const std::uint32_t distance = superblocks<Config>::distance(block);
    return_blocks(cls, memory().unit_of(block) - distance,
                  1u << distance / sizes::block_units(cls));
  }
  WARPHEAP_DEVICE void return_blocks(std::uint32_t cls, std::uint32_t superblock,
                                     std::uint32_t blocks) const {
    if (superblocks_.give_back(superblock, blocks)) buffers_.push_second(cls, superblock);
  }

  WARPHEAP_DEVICE static std::uint32_t nth(std::uint32_t bits, std::uint32_t n) {
    return static_cast<std::uint32_t>(kth_set_bit(bits, static_cast<int>(n)));
  }

  // The end of memory.

  /// What another try costs a lane that found nothing anywhere; 0 if there is no hope.
  WARPHEAP_DEVICE std::uint32_t price_of_another_try(bool basic, std::uint32_t cls,
                                                     std::uint32_t units,
                                                     const glance& before) const {
    if (is_trimming()) {
      // Ends: the lane that trims waits for no lane that waits here.
      do simt::backoff(pause);
      while (is_trimming());
      return price_of_trim;
    }
    if (may_trim()) {
      if (!trim(units)) simt::backoff(pause);
      return price_of_trim;
    }
    if (basic && any_buffered(cls)) {
      simt::backoff(pause);
      return price_of_look;
    }
    const glance now = look(basic, cls);
    const bool quiet =
        now.moves == before.moves && now.trims == before.trims && in_progress(now.moves) == 0;
    if (quiet && memory().is_out(units)) return 0;
    simt::backoff(pause);
    return price_of_look;
  }

  WARPHEAP_DEVICE bool is_trimming() const {
    return simt::atomic_ref(shared_->trims).load(simt::order::acquire) % 2 != 0;
  }

  /// Whether the FIFOs of a class have anything, or are being looked into.
  WARPHEAP_DEVICE bool any_buffered(std::uint32_t cls) const {
    bool any = fifos::count(buffers_.second(cls)) != 0;
    for (std::uint32_t i = 0; i < sizes::lists; ++i) {
      any = fifos::count(buffers_.list(cls, i)) != 0 || any;
    }
    return any;
  }

  /// Whether a trim can return anything: a list has blocks, or a Superblock is free.
  WARPHEAP_DEVICE bool may_trim() const {
    bool any = superblocks_.any_whole();
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      for (std::uint32_t i = 0; i < sizes::lists; ++i) {
        any = fifos::count(buffers_.list(cls, i)) > 0 || any;
      }
    }
    return any;
  }

  /// Returns the Basicblocks in all lists to their Superblocks, and then the memory of free
  /// Superblocks, until a Memoryblock of `units` is free. False if another lane trims.
  ///
  /// Ends: it takes no more out of a FIFO than that has when its turn comes.
  WARPHEAP_DEVICE bool trim(std::uint32_t units) const {
    const simt::atomic_ref trims(shared_->trims);
    std::uint64_t seen = trims.load(simt::order::relaxed);
    // Acquire pairs with the release of the trim before.
    if (seen % 2 != 0 || !trims.compare_exchange(seen, seen + 1, simt::order::acquire)) {
      return false;
    }
    for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
      for (std::uint32_t i = 0; i < sizes::lists; ++i) empty_list(cls, buffers_.list(cls, i));
    }
    bool enough = false;
    for (std::uint32_t cls = 0; cls < sizes::classes && !enough; ++cls) {
      enough = retire_superblocks(cls, units);
    }
    trims.fetch_add(1, simt::order::release);  // pairs with `look`
    return true;
  }

  WARPHEAP_DEVICE void empty_list(std::uint32_t cls, const typename fifos::fifo& list) const {
    for (std::int64_t left = fifos::count(list); left > 0; --left) {
      std::uint32_t unit = none;
      if (!fifos::pop(alone(), list, unit)) return;
      return_block(cls, superblocks_.block_in(unit));
    }
  }

  /// True if a Memoryblock of `units` is free then.
  WARPHEAP_DEVICE bool retire_superblocks(std::uint32_t cls, std::uint32_t units) const {
    const auto second = buffers_.second(cls);
    for (std::int64_t left = fifos::count(second); left > 0 && superblocks_.any_whole(); --left) {
      std::uint32_t superblock = none;
      if (!fifos::pop(alone(), second, superblock)) return false;
      const std::uint32_t merged = superblocks_.retire(superblock);
      if (merged == 0) {
        buffers_.push_second(cls, superblock);
      } else if (merged >= units) {
        return true;
      }
    }
    return false;
  }

  shared_words* shared_ = nullptr;
  std::uint32_t refills_ = 1;
  fifos buffers_;
  superblocks<Config> superblocks_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
