// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// M. Springer, H. Masuhara: "DynaSOAr: A Parallel Memory Allocator for Object-Oriented Programming
/// on GPUs with Efficient Memory Access", ECOOP 2019, DOI 10.4230/LIPIcs.ECOOP.2019.17.
///
/// The publication manages objects: that is `dynasoar_objects` in objects.hpp. This is the same
/// allocator with bytes instead of types, so that it can be compared with the others: a type for
/// each power of two from `smallest_bytes` on, without fields.
///
/// Algorithm:
/// - The heap is an array of blocks of equal size. A block is free or has slots of one type: as
///   many as fit, 64 of the smallest type. A bit for each slot says whether it is free.
/// - Bitmap trees hold the free blocks and, for each type T, the blocks of T and the active ones,
///   which have free slots.
/// - malloc: the lanes of a warp that want the same type draw an active block and take their free
///   slots in it by one atomic AND; after five futile draws, they give a free block the type.
/// - free: an atomic OR sets the slot's bit. A block that had no free slot becomes active; one
///   whose slots are all free becomes a free block.
///
/// Layout (m blocks, k types; defaults: blocks of 1 KiB, k = 7):
///
///     [ moves: u64 ][ the handle: a copy ]
///     [ free blocks: bitmap tree over m ][ allocated: k trees ][ active: k trees ]
///     [ free slots: u64 x m ][ types: u32 x m ][ block 0 | block 1 | ... ]
///     block of type t:  [ slot 0 | slot 1 | ... ]   64 slots of 16 B, 32 of 32 B, ... 1 of 1 KiB
///
/// Invariants, while no lane allocates (place: the block, if nothing else is said):
/// I1 the words of all bitmap trees fit (place: the word)
/// I2 each block is free or allocated to exactly one type
/// I3 a block is in active[T] exactly if it is allocated to T and has free slots
/// I4 an allocated block has its type's number, no free slots beyond those that it has, and not all
///    of them free
/// I5 a free block has no free slots
/// I6 no move is in progress (place: 0)
///
/// Steady load: the moves of other lanes spoil the search of one that finds nothing, which then
/// searches again, up to 64 times. In a full heap, nearly every free is a move, because its block
/// had no free slot, and so is the malloc that takes the slot again; all moves are counted in one
/// word. In the survey's case, a launch with blocks of 64 B took 1.44 s. In the checked load, with
/// sizes up to 1 KiB and a heap four times as large, the longest took less than a quarter of that.
///
/// Progress and memory orders: blocks.hpp.
///
/// Null: at a moment of the call there was neither a free block nor a free slot of the size; or the
/// moves of other lanes spoilt each of 64 searches (blocks.hpp explains why the first is certain).
///
/// Deviations from the paper, and why:
/// - The bits of free slots and the types lie in arrays beside the blocks, not in a header of 64 B
///   in each: an inspection or a snapshot of all blocks reads them in a row, and blocks keep a size
///   that is a power of two if the types' sizes are.
/// - The hierarchical bitmaps are those of sync/bitmap_tree.hpp, and no lane waits for the one that
///   changed the same bit before it: it looks again after its own change.
/// - An empty block is closed by the lane that removed it from allocated[T], by compare-exchange.
///   The paper takes all free slots and returns them if some were missing, which hides free slots
///   and requires care if the block has another type by then.
/// - The lane that opens a block takes its own slots before others see it.
/// - Free slots are taken from a random one on; the paper rotates by the warp's number.
/// - Null when nothing is free; the paper leaves this open.
/// - Types are numbers, each with slots of 16 B << i; requests are rounded up to the next.

#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/dynasoar/blocks.hpp"
#include "warpheap/managers/dynasoar/inspection.hpp"
#include "warpheap/managers/dynasoar/publication.hpp"
#include "warpheap/managers/dynasoar/table.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct dynasoar_config {
  /// Bytes of a slot of the smallest type.
  std::size_t smallest_bytes = 16;
  /// Slots of that type in a block.
  int slots = 64;
};

template <dynasoar_config Config = dynasoar_config{}>
class dynasoar {
 public:
  using options = no_options;

  static_assert(Config.smallest_bytes >= 16 && is_power_of_two(Config.smallest_bytes),
                "dynasoar_config::smallest_bytes must be a power of two from 16 on");
  static_assert(Config.slots >= 1 && Config.slots <= 64 &&
                    is_power_of_two(static_cast<unsigned>(Config.slots)),
                "dynasoar_config::slots must be a power of two from 1 to 64");

  /// Type t has slots of `smallest_bytes << t`; the last type has one slot per block.
  struct shape {
    static constexpr std::uint32_t types =
        static_cast<std::uint32_t>(floor_log2(static_cast<unsigned>(Config.slots))) + 1;
    static constexpr std::size_t block_bytes =
        Config.smallest_bytes * static_cast<std::size_t>(Config.slots);
    WARPHEAP_HD static constexpr int slots(std::uint32_t type) { return Config.slots >> type; }
    WARPHEAP_HD static constexpr std::size_t slot_bytes(std::uint32_t type) {
      return Config.smallest_bytes << type;
    }
    /// The smallest type with slots of at least `bytes`. \pre `0 < bytes && bytes <= block_bytes`
    WARPHEAP_HD static constexpr std::uint32_t type_for(std::size_t bytes) {
      const auto units = static_cast<std::uint32_t>((bytes - 1) / Config.smallest_bytes + 1);
      return static_cast<std::uint32_t>(ceil_log2(units));
    }
  };

  static constexpr capabilities about{
      .name = "dynasoar",
      .description =
          "blocks of 64 slots of one size, found through bitmap trees; sizes replace "
          "the publication's types",
      .folder = "dynasoar",
      .published = dynasoar_publication,
      .deviations = {"Free slots and types lie in arrays beside the blocks, not in their headers.",
                     "No lane waits for the one that changed the same bit of a hierarchy before.",
                     "An empty block is closed by the one lane that removed it from its type's "
                     "blocks.",
                     "The lane that opens a block takes its own slots before others see it.",
                     "Free slots are taken from a random one on, not rotated by the warp's number.",
                     "Null when nothing is free, which the paper leaves open.",
                     "Sizes of powers of two stand for types; objects are another manager's."},
      .largest_block = shape::block_bytes,
  };

  dynasoar(const region& memory, const simt::device_properties& /*machine*/,
           const options& /*none*/)
      : blocks_(dynasoar_blocks<shape>::lay_out(memory, about.name,
                                                [](region_cursor&, std::uint32_t) {})) {}

  WARPHEAP_HD std::size_t largest_block() const { return shape::block_bytes; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    state().format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint32_t type = shape::type_for(bytes);
    const auto got = blocks_.allocate(type);
    if (got.block == blocks_.none) return nullptr;
    return state().address(got.block) + got.slot * shape::slot_bytes(type);
  }

  WARPHEAP_DEVICE void free(void* pointer) const {
    WARPHEAP_ASSERT(pointer != nullptr);
    const std::uint64_t offset = state().offset(pointer);
    const std::uint64_t block = offset / shape::block_bytes;
    if (block >= state().count()) return;  // not of this heap
    const auto number = static_cast<std::uint32_t>(block);
    // Relaxed is enough: the caller's slot has kept the type from changing since malloc.
    const std::uint32_t type = state().type_of(number);
    const std::uint64_t inside = offset % shape::block_bytes;
    blocks_.release(type, {number, static_cast<std::uint32_t>(inside / shape::slot_bytes(type))});
  }

  /// 0 for a pointer outside the heap.
  WARPHEAP_DEVICE std::size_t usable_size(void* pointer) const {
    const std::uint64_t block = state().offset(pointer) / shape::block_bytes;
    if (block >= state().count()) return 0;
    return shape::slot_bytes(state().type_of(static_cast<std::uint32_t>(block)));
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    inspect_blocks(state(), rank, count, findings);
  }

 private:
  using table = dynasoar_table<shape>;

  WARPHEAP_HD const table& state() const { return blocks_.state(); }

  dynasoar_blocks<shape> blocks_;
};

WARPHEAP_END_NAMESPACE
