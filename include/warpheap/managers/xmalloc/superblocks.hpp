// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Superblocks: Memoryblocks that are split into Basicblocks of one class.
///
/// A Superblock's word is [ 0:31 | held:1 | map:32 ], a bit of the map for each free block. `held`
/// says that exactly one of two things is true: the second-level FIFO of the class has the
/// Superblock once, or one call owns it. Only its owner takes blocks, and ends its ownership by
/// putting the Superblock into the FIFO, or with the last free block, in one step with taking that.
/// A lane that gives back a block sets its bit and `held`; if `held` was off, it owns the
/// Superblock. So a Superblock is never in the FIFO twice, and an owner that sees all blocks free
/// can return the memory: no block is in use, and no other lane has a reference.
///
/// It has as many blocks as its header says: fewer than a whole one if it was split where no whole
/// one had room. All of a Superblock are free if its map has just so many bits.
///
/// A Superblock counts the blocks that callers have. Of one that counts none, all blocks are in its
/// map, or in lists, or on their way, so a trim can make it whole; the heap counts such
/// Superblocks.
///
/// Progress: lock-free; the compare-exchange repeats only when a block was given back in the
/// meantime.

#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/memoryblocks.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
class superblocks {
  using sizes = geometry<Config>;

 public:
  static constexpr std::uint64_t held = std::uint64_t{1} << 32;

  /// What an owner has taken.
  struct taken {
    /// A bit for each block.
    std::uint32_t blocks;
    /// Blocks are left, and the caller is still the owner.
    bool owns;
  };

  superblocks() = default;
  superblocks(const memoryblocks<Config>& memory, region_cursor& cursor)
      : memory_(memory), unused_(cursor.take<std::int64_t>(1, 128)) {}

  WARPHEAP_HD const memoryblocks<Config>& memory() const { return memory_; }

  /// A map of `blocks` blocks that are all free.
  WARPHEAP_HD static constexpr std::uint32_t map_of(std::uint32_t blocks) {
    return low_bits<std::uint32_t>(static_cast<int>(blocks));
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank) const {
    if (rank == 0) *unused_ = 0;
  }

  /// The first byte of block `i` of a Superblock. All of them begin at the same offset in a unit.
  WARPHEAP_HD std::byte* block(std::uint32_t superblock, std::uint32_t cls, std::uint32_t i) const {
    return block_in(superblock + i * sizes::block_units(cls));
  }
  /// The Basicblock that begins in `unit`.
  WARPHEAP_HD std::byte* block_in(std::uint32_t unit) const {
    return memory_.base() + std::size_t{unit} * sizes::unit + sizes::first_block;
  }

  /// Units from a Basicblock back to its Superblock.
  WARPHEAP_HD static std::uint32_t distance(const std::byte* block) {
    return reinterpret_cast<const std::uint32_t*>(block)[-2];
  }

  /// Splits a new Superblock, of fewer blocks where no whole one fits, and takes its first `wanted`
  /// blocks, up to `lent` of them for callers. `none` if there is no memory.
  WARPHEAP_DEVICE std::uint32_t carve(std::uint32_t cls, std::uint32_t wanted, std::uint32_t lent,
                                      taken& got) const {
    const std::uint64_t room = simt::call_apart(&take_apart, memory_, cls);
    const auto unit = static_cast<std::uint32_t>(room);
    const auto blocks = static_cast<std::uint32_t>(room >> 32);
    if (unit == none) return none;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      std::byte* const first = block(unit, cls, i);
      reinterpret_cast<std::uint32_t*>(first)[-2] = i * sizes::block_units(cls);
      word_before(first) = block_word::basic(cls).bits();
    }
    head(unit).cls = cls;
    head(unit).lent = lent < blocks ? lent : blocks;
    head(unit).blocks = blocks;
    const std::uint32_t all = map_of(blocks);
    const std::uint32_t left = all & ~lowest(all, wanted);
    // Relaxed: other lanes learn of the Superblock and its blocks from a FIFO.
    word(unit).store(left == 0 ? 0 : left | held, simt::order::relaxed);
    got = {all & ~left, left != 0};
    return unit;
  }

  /// Takes from one to `wanted` blocks. \pre the caller owns the Superblock, `wanted != 0`
  WARPHEAP_DEVICE taken take(std::uint32_t superblock, std::uint32_t wanted) const {
    const auto now = word(superblock);
    std::uint64_t seen = now.load(simt::order::relaxed);
    for (;;) {
      const auto map = static_cast<std::uint32_t>(seen);
      const std::uint32_t mine = lowest(map, wanted);
      const std::uint32_t left = map & ~mine;
      // Acquire pairs with `give_back`: the last owners' accesses come first. Release: with the
      // last block, ownership ends, and what this owner did comes before what the next one does.
      if (now.compare_exchange(seen, left == 0 ? 0 : left | held, simt::order::acq_rel)) {
        return {mine, left != 0};
      }
    }
  }

  /// Gives back `blocks`, one bit for each. True if the caller now owns the Superblock and must put
  /// it into its FIFO; otherwise, it must not touch it any more.
  [[nodiscard]] WARPHEAP_DEVICE bool give_back(std::uint32_t superblock,
                                               std::uint32_t blocks) const {
    // Release pairs with the acquire in `take` and `retire`; acquire: an owner that was before.
    const std::uint64_t before = word(superblock).fetch_or(blocks | held, simt::order::acq_rel);
    return (before & held) == 0;
  }

  /// Returns the memory of a Superblock if all of its blocks are free; its units then, otherwise 0.
  /// \pre the caller owns the Superblock
  WARPHEAP_DEVICE std::uint32_t retire(std::uint32_t superblock) const {
    // Acquire pairs with `give_back`: the last owners of all blocks are done with them.
    const auto map = static_cast<std::uint32_t>(word(superblock).load(simt::order::acquire));
    const std::uint32_t blocks = head(superblock).blocks;
    if (map != map_of(blocks)) return 0;
    const std::uint32_t units = sizes::superblock_units(head(superblock).cls, blocks);
    count_unused(-1, simt::order::release);  // pairs with `any_unused`
    simt::call_apart(&give_apart, memory_, superblock);
    return units;
  }

  /// Callers get `count` blocks of a Superblock, which the calling lane still has.
  WARPHEAP_DEVICE void lend(std::uint32_t superblock, std::uint32_t count) const {
    // Relaxed: a lane that retires the Superblock has acquired all of its blocks from their owners.
    if (lent(superblock).fetch_add(count, simt::order::relaxed) == 0) count_unused(-1);
  }
  /// A caller's block comes back. It must not be in a list or the map before that.
  WARPHEAP_DEVICE void take_back(std::uint32_t superblock) const {
    if (lent(superblock).fetch_sub(1, simt::order::relaxed) == 1) count_unused(1);
  }

  /// Whether callers have no block of more than so many Superblocks. Acquire pairs with the release
  /// in `retire`: a lane that misses those that a trim has taken sees that trim.
  WARPHEAP_DEVICE bool any_unused(std::int64_t beside = 0) const {
    return simt::atomic_ref(*unused_).load(simt::order::acquire) > beside;
  }

  // Only while no lane allocates.

  WARPHEAP_DEVICE std::uint32_t cls(std::uint32_t superblock) const { return head(superblock).cls; }
  WARPHEAP_DEVICE std::uint32_t blocks(std::uint32_t superblock) const {
    return head(superblock).blocks;
  }
  WARPHEAP_DEVICE std::uint64_t state(std::uint32_t superblock) const {
    return head(superblock).word;
  }
  /// Blocks that callers have.
  WARPHEAP_DEVICE std::uint32_t in_use(std::uint32_t superblock) const {
    return head(superblock).lent;
  }
  WARPHEAP_DEVICE std::int64_t unused() const { return *unused_; }

 private:
  /// Apart from the refill around it, which needs many registers by itself. [ blocks:32 | unit:32 ]
  WARPHEAP_RARE static std::uint64_t take_apart(const memoryblocks<Config>& from,
                                                std::uint32_t cls) {
    std::uint32_t blocks = 0;
    const std::uint32_t unit = from.take_superblock(cls, blocks);
    return std::uint64_t{blocks} << 32 | unit;
  }
  /// Apart from the trim around it, which needs many registers by itself.
  WARPHEAP_RARE static void give_apart(memoryblocks<Config> memory, std::uint32_t unit) {
    memory.give(unit);
  }

  /// At a Superblock's first byte. Class and number of blocks never change.
  struct header {
    std::uint64_t word;
    std::uint32_t cls;
    /// Blocks that callers have.
    std::uint32_t lent;
    /// Blocks that it was split into.
    std::uint32_t blocks;
  };
  static_assert(sizes::memory_header + sizeof(header) + sizes::basic_header <= sizes::first_block);

  WARPHEAP_DEVICE header& head(std::uint32_t superblock) const {
    return *reinterpret_cast<header*>(memory_.bytes_of(superblock));
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> word(std::uint32_t superblock) const {
    return simt::atomic_ref<std::uint64_t>(head(superblock).word);
  }

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> lent(std::uint32_t superblock) const {
    return simt::atomic_ref<std::uint32_t>(head(superblock).lent);
  }

  /// Negative for a moment, when a block of a Superblock is lent before it is counted that all came
  /// back. Relaxed where a block is lent or comes back: that changes what a trim can bring, but no
  /// trim hides it.
  WARPHEAP_DEVICE void count_unused(std::int64_t change,
                                    simt::order order = simt::order::relaxed) const {
    simt::atomic_ref(*unused_).fetch_add(change, order);
  }

  /// The lowest `count` set bits of `map`, or all if it has fewer. \pre `count != 0`
  WARPHEAP_DEVICE static std::uint32_t lowest(std::uint32_t map, std::uint32_t count) {
    if (static_cast<std::uint32_t>(popcount(map)) <= count) return map;
    return map & low_bits<std::uint32_t>(kth_set_bit(map, static_cast<int>(count)));
  }

  memoryblocks<Config> memory_;
  /// Superblocks of which callers have no block.
  std::int64_t* unused_ = nullptr;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
