// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The state of DynaSOAr's blocks, as drawn in dynasoar.hpp: the type of each, its free
/// slots, and which bitmap trees contain it. blocks.hpp says how these change.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/moves.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// A handle, like the manager.
///
/// \tparam Shape what the types are: `types`, how many; `block_bytes`; `slots(type)`, 1 to 64;
/// `slot_bytes(type)`, what a slot counts in the statistics
template <class Shape>
class dynasoar_table {
 public:
  static constexpr std::uint32_t most_blocks = 1u << 31;  // of a bitmap tree

  dynasoar_table() = default;
  dynasoar_table(region_cursor& cursor, std::uint32_t count) : count_(count) {
    tree_words_ = round_up<std::size_t>(bitmap_tree::words_for(count), line_words);
    moves_ = cursor.take<std::uint64_t>(1, line_bytes);
    copy_ = cursor.take<dynasoar_table>(1);
    trees_ = cursor.take<std::uint64_t>(tree_words_ * trees, line_bytes);
    free_slots_ = cursor.take<std::uint64_t>(count);
    types_ = cursor.take<std::uint32_t>(count);
    data_ = cursor.take<std::byte>(count * Shape::block_bytes, line_bytes);
  }

  /// A copy of this object in the heap, for functions that are seldom called: they load what they
  /// need, and their callers keep nothing of it in registers.
  WARPHEAP_DEVICE const dynasoar_table& copy() const { return *copy_; }

  WARPHEAP_HD std::uint32_t count() const { return count_; }
  WARPHEAP_HD std::byte* address(std::uint32_t block) const {
    return data_ + std::size_t{block} * Shape::block_bytes;
  }
  /// Bytes from the first block on.
  WARPHEAP_HD std::uint64_t offset(const void* at) const {
    return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(data_);
  }

  WARPHEAP_HD bitmap_tree free_blocks() const { return tree(0); }
  WARPHEAP_HD bitmap_tree allocated_blocks(std::uint32_t type) const { return tree(1 + type); }
  WARPHEAP_HD bitmap_tree active_blocks(std::uint32_t type) const {
    return tree(1 + Shape::types + type);
  }

  WARPHEAP_HD static constexpr std::uint64_t all_slots(std::uint32_t type) {
    return low_bits<std::uint64_t>(Shape::slots(type));
  }
  /// A bit for each slot of a block that is free.
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> free_slots(std::uint32_t block) const {
    return simt::atomic_ref(free_slots_[block]);
  }
  /// The type that a block has or had last.
  WARPHEAP_DEVICE std::uint32_t type_of(std::uint32_t block) const {
    return simt::atomic_ref(types_[block]).load(simt::order::relaxed);
  }
  WARPHEAP_DEVICE void set_type(std::uint32_t block, std::uint32_t type) const {
    simt::atomic_ref(types_[block]).store(type, simt::order::relaxed);
  }

  // Moves of what has free slots: see `sync::moves`. What hides them is a release.

  WARPHEAP_DEVICE void announce() const { sync::moves::announce(simt::atomic_ref(*moves_)); }
  WARPHEAP_DEVICE void conclude() const { sync::moves::conclude(simt::atomic_ref(*moves_)); }
  WARPHEAP_DEVICE std::uint64_t moves() const {
    return sync::moves::look(simt::atomic_ref(*moves_));
  }
  WARPHEAP_HD static constexpr bool any_in_progress(std::uint64_t moves) {
    return sync::moves::in_progress(moves) != 0;
  }

  /// Makes all blocks free. Called by every lane of a grid of `count`.
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) {
      *copy_ = *this;
      *moves_ = 0;
    }
    for (std::uint32_t i = 0; i < trees; ++i) tree(i).format(i == 0 ? count_ : 0, rank, count);
    for (std::uint64_t i = rank; i < count_; i += count) {
      free_slots_[i] = 0;
      types_[i] = 0;
    }
  }

 private:
  static constexpr std::size_t line_bytes = 128;
  static constexpr std::size_t line_words = line_bytes / sizeof(std::uint64_t);
  static constexpr std::uint32_t trees = 2 * Shape::types + 1;

  WARPHEAP_HD bitmap_tree tree(std::uint32_t i) const {
    return bitmap_tree(trees_ + i * tree_words_, count_);
  }

  std::uint64_t* moves_ = nullptr;
  dynasoar_table* copy_ = nullptr;
  std::uint64_t* trees_ = nullptr;
  std::size_t tree_words_ = 0;
  std::uint64_t* free_slots_ = nullptr;
  std::uint32_t* types_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint32_t count_ = 0;
};

WARPHEAP_END_NAMESPACE
