// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "warpheap/core/bits.hpp"
#include "warpheap/host/policy_options.hpp"
#include "warpheap/host/stores/free_lists.hpp"

namespace warpheap::host {

/// Free blocks by size: one list for each size class, and a bitmap of the classes that have one.
/// Class c of row f holds sizes from 2^f * (1 + c / 2^Bits) granules up to the next class; sizes
/// below 2^Bits granules have a class each.
///
/// - `Bits == 0` is the index of *segregated fit*: powers of two (host-based paper, section V-A).
/// - `Bits > 0` is the two-level index of *TLSF* (M. Masmano, I. Ripoll, A. Crespo, J. Real, "TLSF:
///   a new dynamic memory allocator for real-time systems", ECRTS 2004; section V-B of the paper).
///
/// A search first looks at the few newest blocks of the class that the size itself belongs to (some
/// of them may be large enough, and they fit best), then at the first blocks of the next non-empty
/// classes, in which every block is large enough.
///
/// I1: a class's bit is set if and only if its list has a block; a row's bit if and only if one of
/// its classes' bits is. I2: each block in a list is free, of the list's class and tagged with it,
/// and no free block is missing.
///
/// Complexity: insert, remove and a bounded find O(1); a thorough find is linear in the blocks of
/// one class.
template <int Bits>
class size_index {
  static_assert(Bits >= 0 && Bits <= 5, "the classes of a row must fit into a 32-bit word");

 public:
  using index = block_table::index;

  /// Blocks of the size's own class that a bounded search looks at.
  static constexpr std::size_t looks = 4;
  /// Classes in which a search looks for a low address.
  static constexpr int classes_met = 4;

  explicit size_index(policy_options options) : shift_(floor_log2(options.granule_bytes)) {}

  void insert(block_table& table, index which) { push(table, class_of(table[which].bytes), which); }

  /// Updates the index after a block in it changed its size. A block that leaves its class is the
  /// newest of its new one; one that stays keeps its place. In classes as wide as a power of two it
  /// is the newest in any case: what was used last fits best there.
  void resized(block_table& table, index which) {
    const std::size_t list = class_of(table[which].bytes);
    if (Bits != 0 ? table[which].tag == list : lists_.head(list) == which) return;
    remove(table, which);
    push(table, list, which);
  }

  void remove(block_table& table, index which) {
    const std::size_t list = table[which].tag;
    const std::size_t row = row_of(list);
    lists_.remove(table, list, which);
    // No branches: whether a class has one block or more is beyond what a processor predicts.
    const std::uint32_t left =
        columns_[row] & ~(std::uint32_t{lists_.empty(list)} << list % column_count);
    columns_[row] = left;
    rows_ &= ~(std::uint64_t{left == 0} << row);
  }

  /// A free block of at least `bytes` bytes, or none; it stays in its list. If one of those that
  /// the search meets first has exactly that size, it is taken. Of the others that the search meets
  /// it takes the one with the lowest address, as long as they are no larger than `widest()` bytes;
  /// so with 0 it takes the first one.
  template <class Widest>
  index find(const block_table& table, std::size_t bytes, effort how, Widest&& widest_of) const {
    const std::size_t own = class_of(bytes);
    std::size_t row = row_of(own);
    const index newest = lists_.head(own);
    // Without a look at the class's bit: no request has the 0 bytes of "no block".
    if (table[newest].bytes == bytes) return newest;
    index best = block_table::none;
    if (newest != block_table::none) {
      const std::size_t limit =
          how == effort::bounded ? looks : std::numeric_limits<std::size_t>::max();
      best = lists_.first_that_fits(table, own, bytes, limit);
      if (table[best].bytes == bytes) return best;
    }
    const std::size_t widest = widest_of();
    if (best != block_table::none && widest == 0) return best;
    // Every block of the classes above is large enough: looks at the first one of each, the rest of
    // the row first, then the rows above that have one.
    std::uint32_t columns = columns_[row] & (~std::uint32_t{1} << own % column_count);
    if (best == block_table::none) best = next_class(row, columns);
    if (best == block_table::none || widest == 0) return best;
    address lowest = table[best].base;
    for (int met = 1; met < classes_met; ++met) {
      const index head = next_class(row, columns);
      if (head == block_table::none || table[head].bytes > widest) break;
      // No branch: no processor predicts which of two holes lies lower. Nor does a look at one hole
      // wait for the look at the one before.
      const address base = table[head].base;
      const index is_lower = -static_cast<index>(base < lowest);
      best = (head & is_lower) | (best & ~is_lower);
      lowest = std::min(lowest, base);
    }
    return best;
  }

  /// Checks I1 and I2, given the number of free blocks that there are. O(blocks)
  std::optional<std::string> check(const block_table& table, std::size_t free_blocks) const {
    std::size_t seen = 0;
    for (std::size_t row = 0; row < row_count; ++row) {
      if ((rows_ >> row & 1) != (columns_[row] != 0)) return "I1: row " + std::to_string(row);
    }
    for (std::size_t list = 0; list < list_count; ++list) {
      if (((columns_[row_of(list)] & column_bit(list)) != 0) == lists_.empty(list)) {
        return "I1: class " + std::to_string(list);
      }
      for (index which = lists_.head(list); which != block_table::none;
           which = table[which].list_next, ++seen) {
        const auto& block = table[which];
        if (!block.free || class_of(block.bytes) != list || block.tag != list) {
          return "I2: the block at " + to_text(block.base) + " is in a wrong list";
        }
      }
    }
    if (seen != free_blocks) {
      return "I2: " + std::to_string(seen) + " blocks in the lists of " +
             std::to_string(free_blocks) + " free ones";
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t column_count = std::size_t{1} << Bits;
  // Row 0 holds the sizes below 2^Bits granules; 48 bits of address space bound the others.
  static constexpr std::size_t row_count = 48 - Bits;
  static constexpr std::size_t list_count = row_count * column_count;

  // A class is named by its list: class c of row r by r * column_count + c.
  std::size_t class_of(std::size_t bytes) const {
    const std::size_t granules = bytes >> shift_;
    const int cut = floor_log2(granules | column_count) - Bits;
    return (static_cast<std::size_t>(cut) << Bits) + (granules >> cut);
  }

  // The newest block of the next class that has one: `columns` are those of `row` that were not
  // looked at, and become those of the next row that has any when there is none left.
  index next_class(std::size_t& row, std::uint32_t& columns) const {
    if (columns == 0) {
      const std::uint64_t rows = rows_ & (~std::uint64_t{1} << row);
      if (rows == 0) return block_table::none;
      row = static_cast<std::size_t>(std::countr_zero(rows));
      columns = columns_[row];
    }
    const auto column = static_cast<std::size_t>(std::countr_zero(columns));
    columns &= columns - 1;
    return lists_.head(row * column_count + column);
  }

  static std::size_t row_of(std::size_t list) { return list >> Bits; }
  static std::uint32_t column_bit(std::size_t list) {
    return std::uint32_t{1} << list % column_count;
  }

  void push(block_table& table, std::size_t list, index which) {
    table[which].tag = static_cast<std::uint16_t>(list);
    lists_.push(table, list, which);
    columns_[row_of(list)] |= column_bit(list);
    rows_ |= std::uint64_t{1} << row_of(list);
  }

  int shift_;
  std::uint64_t rows_ = 0;
  std::array<std::uint32_t, row_count> columns_{};
  free_lists<list_count> lists_;
};

}  // namespace warpheap::host
