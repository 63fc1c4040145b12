// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "warpheap/host/free_lists.hpp"
#include "warpheap/host/policy.hpp"

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
/// its classes' bits is. I2: each block in a list is free, of the list's class, and no free block
/// is missing.
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

  void insert(block_table& table, index which) {
    const place where = place_of(table[which].bytes >> shift_);
    lists_.push(table, where.list(), which);
    columns_[where.row] |= std::uint32_t{1} << where.column;
    rows_ |= std::uint64_t{1} << where.row;
  }

  void remove(block_table& table, index which) {
    const place where = place_of(table[which].bytes >> shift_);
    lists_.remove(table, where.list(), which);
    // No branches: whether a class has one block or more is beyond what a processor predicts.
    const std::uint32_t left =
        columns_[where.row] & ~(std::uint32_t{lists_.empty(where.list())} << where.column);
    columns_[where.row] = left;
    rows_ &= ~(std::uint64_t{left == 0} << where.row);
  }

  /// A free block of at least `bytes` bytes, or none; it stays in its list. Of the blocks that the
  /// search meets it takes the one with the lowest address, as long as they are no larger than
  /// `widest` bytes; so with a `widest` of 0 it takes the first one.
  index find(const block_table& table, std::size_t bytes, std::size_t widest, effort how) const {
    place where = place_of(bytes >> shift_);
    index best = block_table::none;
    if (columns_[where.row] >> where.column & 1) {
      const std::size_t limit =
          how == effort::bounded ? looks : std::numeric_limits<std::size_t>::max();
      best = lists_.first_that_fits(table, where.list(), bytes, limit);
      if (best != block_table::none && widest == 0) return best;
    }
    // Every block of the classes above is large enough: looks at the first one of each, the rest of
    // the row first, then the rows above that have one.
    std::uint32_t columns = columns_[where.row] & (~std::uint32_t{1} << where.column);
    for (int met = best != block_table::none; met < classes_met; ++met) {
      if (columns == 0) {
        const std::uint64_t rows = rows_ & (~std::uint64_t{1} << where.row);
        if (rows == 0) break;
        where.row = std::countr_zero(rows);
        columns = columns_[where.row];
      }
      where.column = std::countr_zero(columns);
      columns &= columns - 1;
      const index head = lists_.head(where.list());
      if (best == block_table::none) {
        best = head;
      } else if (table[head].bytes > widest) {
        break;
      } else if (table[head].base < table[best].base) {
        best = head;
      }
    }
    return best;
  }

  /// Checks I1 and I2, given the number of free blocks that there are. O(blocks)
  std::optional<std::string> check(const block_table& table, std::size_t free_blocks) const {
    std::size_t seen = 0;
    for (int row = 0; row < row_count; ++row) {
      if ((rows_ >> row & 1) != (columns_[row] != 0)) return "I1: row " + std::to_string(row);
      for (int column = 0; column < column_count; ++column) {
        const place where{row, column};
        if ((columns_[row] >> column & 1) == lists_.empty(where.list())) {
          return "I1: class " + std::to_string(where.list());
        }
        for (index which = lists_.head(where.list()); which != block_table::none;
             which = table[which].list_next, ++seen) {
          if (!table[which].free || place_of(table[which].bytes >> shift_) != where) {
            return "I2: the block at " + to_text(table[which].base) + " is in a wrong list";
          }
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
  static constexpr int column_count = 1 << Bits;
  // Row 0 holds the sizes below 2^Bits granules; 48 bits of address space bound the others.
  static constexpr int row_count = 48 - Bits;

  struct place {
    int row;
    int column;

    std::size_t list() const { return static_cast<std::size_t>(row * column_count + column); }
    friend bool operator==(place, place) = default;
  };

  static place place_of(std::size_t granules) {
    if (granules < column_count) return {0, static_cast<int>(granules)};
    const int top = floor_log2(granules);
    return {top - Bits + 1, static_cast<int>(granules >> (top - Bits)) - column_count};
  }

  int shift_;
  std::uint64_t rows_ = 0;
  std::array<std::uint32_t, row_count> columns_{};
  free_lists<std::size_t{row_count} * column_count> lists_;
};

}  // namespace warpheap::host
