// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/host/policy_options.hpp"
#include "warpheap/host/stores/free_lists.hpp"

namespace warpheap::host {

/// Free blocks by size: one list per size class, and a bitmap of the classes with a block. Class c
/// of row f holds sizes from 2^f * (1 + c / 2^Bits) granules up to the next class; sizes below
/// 2^Bits granules have a class each. The bitmap has two levels: the classes in words of 64,
/// whatever row they are in, and a word with a bit for each of these.
///
/// - `Bits == 0` is the index of *segregated fit*: powers of two (host-based paper, section V-A).
/// - `Bits > 0` is the two-level index of *TLSF* (M. Masmano, I. Ripoll, A. Crespo, J. Real, "TLSF:
///   a new dynamic memory allocator for real-time systems", ECRTS 2004; section V-B of the paper).
///
/// A search first looks at the few newest blocks of the class that the size itself belongs to (some
/// of them may be large enough, and they fit best), then at the first blocks of the next non-empty
/// classes, in which every block is large enough.
///
/// Our addition: each class has two lists, and a search prefers those of the *lower half*. While
/// the index is divided, a block above the usual address of a hole goes to the upper half. Where
/// holes of every size are plenty, the newest one that fits would else be taken wherever it lies,
/// and low addresses would not stay dense. Where they are few, nothing is divided, so that the
/// newest block that fits exactly is found at once.
///
/// I1: a list's bit is set if and only if it has a block; a word's bit is set if one of its lists'
/// bits is; otherwise, it may stay set until a search clears it. I2: each block in a list is free,
/// of the list's class and tagged with the list, and no free block is missing.
///
/// Complexity: insert, remove and a bounded find O(1); a thorough find is linear in the blocks of
/// one class.
template <int Bits, class Table = block_table>
class size_index {
  static_assert(Bits >= 0 && Bits <= 5, "at most 32 classes between two powers of two");

 public:
  /// Where the records of the blocks are.
  using table_type = Table;
  using index = block_table::index;

  /// Blocks of the size's own class that a bounded search looks at. A processor cannot predict
  /// which of them is large enough. In narrow classes, a third look costs more than it saves.
  static constexpr std::size_t looks = Bits == 0 ? 4 : 2;
  /// Classes in which a search looks for a low address.
  static constexpr int classes_met = 4;
  /// A two-level index is divided once this many of its 32 smallest sizes have a hole, until fewer
  /// than that have one. Programs seldom come near it, random sizes in thousands of slots exceed
  /// it.
  static constexpr int sizes_to_divide = 22;
  static constexpr int sizes_to_stay_divided = 16;

  explicit size_index(policy_options options) : shift_(floor_log2(options.granule_bytes)) {}

  /// The class of a size, with which blocks of that size are tagged that are in no list. It is the
  /// number of the class's list in the lower half.
  std::uint16_t class_of(std::size_t bytes) const {
    const std::size_t granules = Table::in_granules ? bytes : bytes >> shift_;
    const auto cut = static_cast<std::uint32_t>(floor_log2(granules | column_count) - Bits);
    return static_cast<std::uint16_t>((std::size_t{cut} << Bits) + (granules >> cut));
  }

  void insert(Table& table, index which) { push(table, class_of(table[which].bytes), which); }

  /// The same for a block that is already tagged with its class, so nothing is computed before the
  /// list is accessed.
  void insert_tagged(Table& table, index which) {
    const std::size_t own = table[which].tag;
    const std::size_t list = is_divided_ ? half_of(table, which, own) : own;
    if (is_divided_) table[which].tag = static_cast<std::uint16_t>(list);
    link(table, list, which);
  }

  /// Updates the index after a block in it has changed its size. A block that leaves its class
  /// becomes the newest of its new one; one that stays keeps its place. In classes as wide as a
  /// power of two, it always becomes the newest: there, what was used last fits best.
  void resized(Table& table, index which) {
    const std::size_t own = class_of(table[which].bytes);
    const std::size_t list = table[which].tag;
    if (list == own || list == own + lists_per_half) {
      if (Bits != 0 || lists_.head(list) == which) return;
    }
    remove(table, which);
    push(table, own, which);
  }

  /// Learns where holes usually lie, and whether it pays to divide them, from a block at `base`
  /// that is freed between two holes. Such frees are rare enough to afford it, and frequent where
  /// there are many holes.
  void freed_between(address base) {
    const auto small = static_cast<std::uint32_t>(classes_[0] | classes_[words_per_half]);
    // Classes as wide as a power of two gain much more than a search costs.
    is_divided_ = Bits == 0 ||
                  std::popcount(small) >= (is_divided_ ? sizes_to_stay_divided : sizes_to_divide);
    // A moving average that falls twice as fast as it rises: rather below the middle than above.
    const address fine = base << fraction_bits;
    const auto above = static_cast<std::int64_t>(fine - usual_fine_);
    usual_fine_ =
        usual_fine_ == 0 ? fine : usual_fine_ + static_cast<address>(above >> (above < 0 ? 6 : 7));
    usual_ = usual_fine_ >> fraction_bits;
  }

  void remove(Table& table, index which) {
    const std::size_t list = table[which].tag;
    lists_.remove(table, list, which);
    clear_if(lists_.empty(list), list);
  }

  /// Removes and returns the newest block of the size's class in the lower half if it has exactly
  /// that size; otherwise returns none.
  index take_exact(Table& table, std::size_t bytes, std::uint16_t own) {
    const index newest = lists_.head(own);
    // The class's bit need not be checked: no request has the size of "no block", 0 bytes.
    if (table[newest].bytes != bytes) return block_table::none;
    if (newest == block_table::none) __builtin_unreachable();
    clear_if(lists_.pop(table, own), own);
    return newest;
  }

  /// A free block of at least `bytes` bytes, or none; it stays in its list. If one of the first
  /// that the search meets has exactly that size, the search returns it. Otherwise, it returns the
  /// first one or, if `is_small()`, the one with the lowest address of those whose classes reach up
  /// to twice the size, and takes a larger one of the lower half only if the upper half has none.
  template <class IsSmall>
  index find(const Table& table, std::size_t bytes, effort how, IsSmall&& is_small) {
    const std::uint16_t own = class_of(bytes);
    const index newest = lists_.head(own);
    return table[newest].bytes == bytes ? newest : find_other(table, bytes, own, how, is_small);
  }

  /// The same where the newest block of the size's class does not have exactly that size.
  template <class IsSmall>
  index find_other(const Table& table, std::size_t bytes, std::uint16_t own, effort how,
                   IsSmall&& is_small) {
    if (words_ > lower_half) return find_divided(table, bytes, own, how, is_small());
    index best = block_table::none;
    if (!lists_.empty(own)) {
      best = first_that_fits(table, own, bytes, how);
      if (table[best].bytes == bytes) return best;
    }
    const bool low = is_small();
    if (best != block_table::none && !low) return best;
    // Every block of the classes above is large enough: looks at the first one of each.
    cursor from = above(own);
    if (best == block_table::none) {
      const std::size_t list = next_list(from);
      if (list == no_list) return block_table::none;
      best = lists_.head(list);
      // A hint for the compiler: the list has a block (I1).
      if (best == block_table::none) __builtin_unreachable();
    }
    if (!low) return best;
    return lowest_of(table, best, from, own + up_to_twice(own));
  }

  /// Checks I1 and I2, given the number of free blocks. O(blocks)
  std::optional<std::string> check(const Table& table, std::size_t free_blocks) const {
    std::size_t seen = 0;
    for (std::size_t word = 0; word < classes_.size(); ++word) {
      if (classes_[word] != 0 && (words_ >> word & 1) == 0) {
        return "I1: word " + std::to_string(word) + " has a class, and its bit is not set";
      }
    }
    for (std::size_t list = 0; list < 2 * lists_per_half; ++list) {
      if (((classes_[word_of(list)] >> list % 64 & 1) != 0) == lists_.empty(list)) {
        return "I1: the bit of class " + std::to_string(list) + " is wrong";
      }
      for (index which = lists_.head(list); which != block_table::none;
           which = table[which].list_next, ++seen) {
        const auto& block = table[which];
        if (!block.free || class_of(block.bytes) != list % lists_per_half || block.tag != list) {
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
  // The lists of a half fill whole words of the bitmap. There is a row more than there are sizes
  // for, so that the classes up to twice any size are in the same half.
  static constexpr std::size_t lists_per_half =
      round_up<std::size_t>((row_count + 1) * column_count, 64);
  static constexpr std::size_t words_per_half = lists_per_half / 64;
  static_assert(2 * words_per_half <= 64, "a bit for each 64 lists must fit into a word");

  // A moving average needs finer steps than granules.
  static constexpr int fraction_bits = Table::in_granules ? 8 : 0;

  // The bits of the lower half's words.
  static constexpr std::uint64_t lower_half = (std::uint64_t{1} << words_per_half) - 1;

  // Class c of row r is named by its list in the lower half, r * column_count + c.
  static std::size_t word_of(std::size_t list) { return list / 64; }

  // Walks the lists that have a block: `bits` are those of `word` that it has not met yet.
  struct cursor {
    std::size_t word;
    std::uint64_t bits;
  };
  static constexpr std::size_t no_list = ~std::size_t{0};

  cursor above(std::size_t list) const {
    return {word_of(list), classes_[word_of(list)] & (~std::uint64_t{1} << list % 64)};
  }

  std::size_t next_list(cursor& from) {
    while (from.bits == 0) {
      const std::uint64_t words = words_ & (~std::uint64_t{1} << from.word);
      if (words == 0) return no_list;
      from.word = static_cast<std::uint32_t>(std::countr_zero(words));
      from.bits = classes_[from.word];
      if (from.bits == 0) words_ &= ~(std::uint64_t{1} << from.word);
    }
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(from.bits));
    from.bits &= from.bits - 1;
    return from.word * 64 + bit;
  }

  // How many classes up that of twice the size is: in the next row, or of twice as many granules
  // where each number of them has a class.
  static std::size_t up_to_twice(std::size_t own) { return std::min(own, column_count); }

  index first_that_fits(const Table& table, std::size_t list, std::size_t bytes, effort how) const {
    const std::size_t limit =
        how == effort::bounded ? looks : std::numeric_limits<std::size_t>::max();
    return lists_.first_that_fits(table, list, bytes, limit);
  }

  // The hole with the lower address of `best`, at `lowest`, and another one. No branch: processors
  // cannot predict which it is. Nor does the inspection of a hole wait for that of the one before.
  static void take_lower(const Table& table, index other, index& best, address& lowest) {
    const address base = table[other].base;
    const index is_lower = -static_cast<index>(base < lowest);
    best = (other & is_lower) | (best & ~is_lower);
    lowest = std::min(lowest, base);
  }

  // The lowest by address of this block and of the first ones of the next lists, up to `last`.
  index lowest_of(const Table& table, index best, cursor from, std::size_t last) {
    address lowest = table[best].base;
    for (int met = 1; met < classes_met; ++met) {
      const std::size_t list = next_list(from);
      if (list > last) break;
      take_lower(table, lists_.head(list), best, lowest);
    }
    return best;
  }

  // The rule of `find_other` in the lower half, then in the upper one. Without a block in the upper
  // half, it finds what `find_other` does. Apart, so that neither search needs the registers of the
  // other.
  [[gnu::noinline, gnu::flatten]] index find_divided(const Table& table, std::size_t bytes,
                                                     std::size_t own, effort how, bool low) {
    index best = find_in_half(table, bytes, own, 0, how, low);
    if (best == block_table::none) best = find_in_half(table, bytes, own, lists_per_half, how, low);
    return best != block_table::none ? best : smallest_above(own);
  }

  // A block of the class itself in this half or, if `low`, of the classes up to twice the size; or
  // none.
  index find_in_half(const Table& table, std::size_t bytes, std::size_t own, std::size_t half,
                     effort how, bool low) const {
    const std::size_t list = half + own;
    index best = first_that_fits(table, list, bytes, how);
    if (!low || (best != block_table::none && table[best].bytes == bytes)) return best;
    // The bits of the lists behind this one, which may lie in two words. Both are read in any case:
    // processors cannot predict in which of them the first bit is.
    const std::uint64_t* const word = &classes_[word_of(list)];
    std::uint64_t bits = word[0] >> list % 64 >> 1 | word[1] << (63 - list % 64);
    bits &= (std::uint64_t{1} << up_to_twice(own)) - 1;
    if (best == block_table::none) {
      if (bits == 0) return best;
      best = first_behind(list, bits);
    }
    address lowest = table[best].base;
    for (int met = 1; met < classes_met && bits != 0; ++met) {
      take_lower(table, first_behind(list, bits), best, lowest);
    }
    return best;
  }

  // The newest block of the first list behind this one of those that have a bit, which is cleared.
  index first_behind(std::size_t list, std::uint64_t& bits) const {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
    bits &= bits - 1;
    return lists_.head(list + 1 + bit);
  }

  // The newest block of the smallest class above that has one, or none; of the lower half if both
  // have one. One search looks at both: processors cannot predict which has the smaller class.
  index smallest_above(std::size_t own) {
    std::size_t word = word_of(own);
    std::uint64_t wanted = ~std::uint64_t{1} << own % 64;
    for (;;) {
      const std::uint64_t lower = classes_[word] & wanted;
      const std::uint64_t upper = classes_[words_per_half + word];
      const std::uint64_t either = lower | (upper & wanted);
      // When nothing is divided any more, the upper half soon needs no search.
      words_ &= ~(std::uint64_t{upper == 0} << (words_per_half + word));
      if (either != 0) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(either));
        const std::size_t half = (lower >> bit & 1) != 0 ? 0 : lists_per_half;
        return lists_.head(half + word * 64 + bit);
      }
      words_ &= ~(std::uint64_t{classes_[word] == 0} << word);
      const std::uint64_t words =
          (words_ | words_ >> words_per_half) & lower_half & (~std::uint64_t{1} << word);
      if (words == 0) return block_table::none;
      word = static_cast<std::uint32_t>(std::countr_zero(words));
      wanted = ~std::uint64_t{0};
    }
  }

  // No branch: processors cannot predict whether a class has one block or more.
  void clear_if(bool is_empty, std::size_t list) {
    classes_[word_of(list)] &= ~(std::uint64_t{is_empty} << list % 64);
  }

  void push(Table& table, std::size_t list, index which) {
    if (is_divided_) list = half_of(table, which, list);
    table[which].tag = static_cast<std::uint16_t>(list);
    link(table, list, which);
  }

  // The list of a block's class in the half that it belongs to. No branch: processors cannot
  // predict where a hole lies.
  std::size_t half_of(const Table& table, index which, std::size_t own) const {
    return own + (-std::size_t{table[which].base > usual_} & lists_per_half);
  }

  void link(Table& table, std::size_t list, index which) {
    lists_.push(table, list, which);
    classes_[word_of(list)] |= std::uint64_t{1} << list % 64;
    words_ |= std::uint64_t{1} << word_of(list);
  }

  int shift_;
  bool is_divided_ = false;
  std::uint64_t words_ = 0;
  address usual_ = 0;       ///< the addresses up to it are the lower half
  address usual_fine_ = 0;  ///< the same with its fraction
  std::array<std::uint64_t, 2 * words_per_half + 1> classes_{};  ///< the last word has no class
  free_lists<2 * lists_per_half, Table> lists_;
};

}  // namespace warpheap::host
