// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Basicblocks: they come from a first-level FIFO, which is refilled from a Superblock of the
/// second level or a new one, and go back into a first-level FIFO or to their Superblock.
///
/// Progress: see xmalloc.hpp.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/xmalloc/fifos.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/superblocks.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/moves.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
class basicblocks {
  using sizes = geometry<Config>;
  using fifos = xmalloc_parts::fifos<Config>;

 public:
  /// The outcome of an attempt to take a block.
  enum class outcome {
    served,
    others_served,  ///< others took what was there, or make some
    nothing,
  };

  basicblocks() = default;
  /// \param refills groups of a class that may split Superblocks at once
  basicblocks(region_cursor& cursor, std::uint32_t units, std::uint32_t refills)
      : moves_(cursor.take<move_word>(sizes::classes, 128)), refills_(refills) {
    buffers_ = fifos(cursor, units);
    const memoryblocks<Config> memory(cursor, units);
    superblocks_ = superblocks<Config>(memory, cursor);
  }

  WARPHEAP_HD const fifos& buffered() const { return buffers_; }
  WARPHEAP_HD const superblocks<Config>& supers() const { return superblocks_; }
  WARPHEAP_HD const memoryblocks<Config>& memory() const { return superblocks_.memory(); }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint32_t cls = 0; rank == 0 && cls < sizes::classes; ++cls) moves_[cls].word = 0;
    buffers_.format(rank, count);
    superblocks_.format(rank);
    memory().format(rank, count);
  }

  /// One attempt of all lanes that call together for a class.
  WARPHEAP_DEVICE outcome take(std::uint32_t cls, std::byte*& block) const {
    const simt::group same = simt::coalesced(moves_).match(cls);
    std::uint32_t list = none;
    if (same.is_leader()) list = buffers_.list_with_blocks(cls);
    list = same.broadcast(list);
    if (list == none) return refill(same, cls, block);
    std::uint32_t unit = none;
    if (!fifos::pop(same, buffers_.list(cls, list), unit)) return outcome::others_served;
    block = superblocks_.block_in(unit);
    superblocks_.lend(unit - superblocks<Config>::distance(block), 1);
    return outcome::served;
  }

  /// Frees what `take` returned.
  WARPHEAP_DEVICE void give(std::byte* block, std::uint32_t cls) const {
    const simt::group same = simt::coalesced(moves_).match(cls);
    const auto list = buffers_.list(cls, same.broadcast(fifos::own_list()));
    const std::uint32_t unit = memory().unit_of(block);
    superblocks_.take_back(unit - superblocks<Config>::distance(block));
    const bool kept = list.push(same, unit);
    if (same.all(kept)) return;
    // If a lane then owns the block's Superblock, others are hidden until that is in its FIFO.
    if (same.is_leader()) sync::moves::announce(moves(cls));
    same.sync();
    if (!kept) return_block(cls, block);
    same.sync();
    if (same.is_leader()) sync::moves::conclude(moves(cls));
  }

  /// Gives a block back to its Superblock.
  WARPHEAP_DEVICE void return_block(std::uint32_t cls, std::byte* block) const {
    const std::uint32_t distance = superblocks<Config>::distance(block);
    return_blocks(cls, memory().unit_of(block) - distance,
                  1u << distance / sizes::block_units(cls));
  }
  /// Whether the FIFOs of a class have anything, or are being inspected.
  WARPHEAP_DEVICE bool any_buffered(std::uint32_t cls) const {
    bool any = fifos::count(buffers_.second(cls)) != 0;
    for (std::uint32_t i = 0; i < sizes::lists; ++i) {
      any = fifos::count(buffers_.list(cls, i)) != 0 || any;
    }
    return any;
  }

  /// Moves of blocks of a class between the levels, which hide them during that time: see
  /// `sync::moves`.
  WARPHEAP_DEVICE std::uint64_t look_at_moves(std::uint32_t cls) const {
    return sync::moves::look(moves(cls));
  }
  WARPHEAP_HD static std::uint32_t in_progress(std::uint64_t moves) {
    return sync::moves::in_progress(moves);
  }

 private:
  enum class entrance : std::uint32_t { open, crowded, nothing_to_refill_from };

  struct alignas(128) move_word {
    /// See `sync::moves`.
    std::uint64_t word;
  };

  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> moves(std::uint32_t cls) const {
    return simt::atomic_ref<std::uint64_t>(moves_[cls].word);
  }

  /// The leader takes blocks of a Superblock for all members and some more, which go into a list.
  WARPHEAP_DEVICE outcome refill(const simt::group& same, std::uint32_t cls,
                                 std::byte*& block) const {
    const auto size = static_cast<std::uint32_t>(same.size());
    std::uint64_t found = std::uint64_t{none} << 32;
    entrance at = entrance::nothing_to_refill_from;
    if (same.is_leader() && may_refill(cls)) {
      at = enter(cls);
      if (at == entrance::open) found = simt::call_apart(&open_apart, *this, cls, size);
    }
    at = static_cast<entrance>(same.broadcast(static_cast<std::uint32_t>(at)));
    found = same.broadcast(found);
    const auto superblock = static_cast<std::uint32_t>(found >> 32);
    const auto blocks = static_cast<std::uint32_t>(found);
    same.sync();  // what the leader has acquired is the members' as well
    const auto got = static_cast<std::uint32_t>(popcount(blocks));
    const auto rank = static_cast<std::uint32_t>(same.rank());
    if (rank < got) {
      block = superblocks_.block(superblock, cls, nth(blocks, rank));
    }
    if (got > size) simt::call_apart(&buffer_apart, *this, same, cls, superblock, blocks, size);
    if (at == entrance::open && same.is_leader()) sync::moves::conclude(moves(cls));
    if (block != nullptr) return outcome::served;
    return at == entrance::nothing_to_refill_from ? outcome::nothing : outcome::others_served;
  }

  /// Begins a refill, unless the maximum number is under way. A lane that is refused leaves at
  /// once, and one that sees that it would be refused does not try, so the number falls.
  WARPHEAP_DEVICE entrance enter(std::uint32_t cls) const {
    if (in_progress(moves(cls).load(simt::order::relaxed)) >= refills_) return entrance::crowded;
    // Acquire pairs with the release at the end of a refill: what earlier ones did comes first.
    if (in_progress(moves(cls).fetch_add(sync::moves::begins, simt::order::acquire)) < refills_) {
      return entrance::open;
    }
    moves(cls).fetch_add(sync::moves::ends, simt::order::relaxed);
    return entrance::crowded;
  }

  WARPHEAP_DEVICE bool may_refill(std::uint32_t cls) const {
    return fifos::count(buffers_.second(cls)) > 0 || !memory().is_out_for_superblocks(cls);
  }

  WARPHEAP_RARE static std::uint64_t open_apart(const basicblocks& self, std::uint32_t cls,
                                                std::uint32_t callers) {
    return self.open_superblock(cls, callers);
  }

  /// Takes up to a block for each of `callers`, and some more, of one Superblock: [ its unit:32 | a
  /// bit for each block:32 ].
  WARPHEAP_DEVICE std::uint64_t open_superblock(std::uint32_t cls, std::uint32_t callers) const {
    const std::uint32_t wanted = callers + sizes::superblock_blocks / 2;
    std::uint32_t superblock = none;
    typename superblocks<Config>::taken got{0, false};
    if (fifos::count(buffers_.second(cls)) > 0 &&
        fifos::pop(alone(), buffers_.second(cls), superblock)) {
      got = superblocks_.take(superblock, wanted);
      const auto taken = static_cast<std::uint32_t>(popcount(got.blocks));
      superblocks_.lend(superblock, taken < callers ? taken : callers);
    } else {
      superblock = superblocks_.carve(cls, wanted, callers, got);
    }
    if (got.owns) buffers_.push_second(cls, superblock);
    return std::uint64_t{superblock} << 32 | got.blocks;
  }

  WARPHEAP_RARE static void buffer_apart(const basicblocks& self, simt::group same,
                                         std::uint32_t cls, std::uint32_t superblock,
                                         std::uint32_t blocks, std::uint32_t used) {
    self.buffer_surplus(same, cls, superblock, blocks, used);
  }

  /// Puts the blocks after the first `used` into a list, as far as it has room, and gives back the
  /// others.
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

  WARPHEAP_DEVICE void return_blocks(std::uint32_t cls, std::uint32_t superblock,
                                     std::uint32_t blocks) const {
    if (superblocks_.give_back(superblock, blocks)) buffers_.push_second(cls, superblock);
  }

  WARPHEAP_DEVICE static std::uint32_t nth(std::uint32_t bits, std::uint32_t n) {
    return static_cast<std::uint32_t>(kth_set_bit(bits, static_cast<int>(n)));
  }

  move_word* moves_ = nullptr;
  std::uint32_t refills_ = 1;
  fifos buffers_;
  superblocks<Config> superblocks_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
