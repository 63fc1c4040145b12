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
/// I1: a class's bit is set if and only if its list has a block; a word's bit is set if one of its
/// classes' bits is; otherwise, it may stay set until a search clears it. I2: each block in a list
/// is free, of the list's class and tagged with it, and no free block is missing.
///
/// Complexity: insert, remove and a bounded find O(1); a thorough find is linear in the blocks of
/// one class.
template <int Bits>
class size_index {
  static_assert(Bits >= 0 && Bits <= 5, "a bit for each 64 classes must fit into a 32-bit word");

 public:
  using index = block_table::index;

  /// Blocks of the size's own class that a bounded search looks at.
  static constexpr std::size_t looks = 4;
  /// Classes in which a search looks for a low address.
  static constexpr int classes_met = 4;

  explicit size_index(policy_options options) : shift_(floor_log2(options.granule_bytes)) {}

  /// The class of a size, with which blocks of that size are tagged.
  std::uint16_t class_of(std::size_t bytes) const {
    const std::size_t granules = bytes >> shift_;
    const auto cut = static_cast<std::uint32_t>(floor_log2(granules | column_count) - Bits);
    return static_cast<std::uint16_t>((std::size_t{cut} << Bits) + (granules >> cut));
  }

  void insert(block_table& table, index which) { push(table, class_of(table[which].bytes), which); }

  /// The same for a block that is already tagged with its class, so nothing is computed before the
  /// list is accessed.
  void insert_tagged(block_table& table, index which) { push(table, table[which].tag, which); }

  /// Updates the index after a block in it has changed its size. A block that leaves its class
  /// becomes the newest of its new one; one that stays keeps its place. In classes as wide as a
  /// power of two, it always becomes the newest: there, what was used last fits best.
  void resized(block_table& table, index which) {
    const std::size_t list = class_of(table[which].bytes);
    if (Bits != 0 ? table[which].tag == list : lists_.head(list) == which) return;
    remove(table, which);
    push(table, list, which);
  }

  void remove(block_table& table, index which) {
    const std::size_t list = table[which].tag;
    lists_.remove(table, list, which);
    clear_if(lists_.empty(list), list);
  }

  /// Removes and returns the newest block of the size's class if it has exactly that size;
  /// otherwise returns none.
  index take_exact(block_table& table, std::size_t bytes, std::uint16_t own) {
    const index newest = lists_.head(own);
    // The class's bit need not be checked: no request has the size of "no block", 0 bytes.
    if (table[newest].bytes != bytes) return block_table::none;
    if (newest == block_table::none) __builtin_unreachable();
    clear_if(lists_.pop(table, own), own);
    return newest;
  }

  /// A free block of at least `bytes` bytes, or none; it stays in its list. If one of the first
  /// that the search meets has exactly that size, the search returns it. Of the others that it
  /// meets, it returns the one with the lowest address, as long as they have at most `widest()`
  /// bytes; with 0, it returns the first one.
  template <class Widest>
  index find(const block_table& table, std::size_t bytes, effort how, Widest&& widest_of) {
    const std::uint16_t own = class_of(bytes);
    const index newest = lists_.head(own);
    return table[newest].bytes == bytes ? newest : find_other(table, bytes, own, how, widest_of);
  }

  /// The same where the newest block of the size's class does not have exactly that size.
  template <class Widest>
  index find_other(const block_table& table, std::size_t bytes, std::uint16_t own, effort how,
                   Widest&& widest_of) {
    index best = block_table::none;
    if (!lists_.empty(own)) {
      const std::size_t limit =
          how == effort::bounded ? looks : std::numeric_limits<std::size_t>::max();
      best = lists_.first_that_fits(table, own, bytes, limit);
      if (table[best].bytes == bytes) return best;
    }
    const std::size_t widest = widest_of();
    if (best != block_table::none && widest == 0) return best;
    // Every block of the classes above is large enough: looks at the first one of each, the rest of
    // the word first, then the words above that have one.
    std::size_t word = word_of(own);
    std::uint64_t bits = classes_[word] & (~std::uint64_t{1} << own % 64);
    if (best == block_table::none) best = next_class(word, bits);
    if (best == block_table::none || widest == 0) return best;
    address lowest = table[best].base;
    for (int met = 1; met < classes_met; ++met) {
      const index head = next_class(word, bits);
      if (head == block_table::none || table[head].bytes > widest) break;
      // No branch: processors cannot predict which of two holes has the lower address. Nor does the
      // inspection of a hole wait for that of the one before.
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
    for (std::size_t word = 0; word < classes_.size(); ++word) {
      if (classes_[word] != 0 && (words_ >> word & 1) == 0) {
        return "I1: word " + std::to_string(word);
      }
    }
    for (std::size_t list = 0; list < list_count; ++list) {
      if (((classes_[word_of(list)] >> list % 64 & 1) != 0) == lists_.empty(list)) {
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
  static std::size_t word_of(std::size_t list) { return list / 64; }

  // The newest block of the next class that has one: `bits` are the bits of `word` that have not
  // been examined yet; once none is left, they become those of the next word that has any.
  index next_class(std::size_t& word, std::uint64_t& bits) {
    while (bits == 0) {
      const std::uint32_t words = words_ & (~std::uint32_t{1} << word);
      if (words == 0) return block_table::none;
      word = static_cast<std::uint32_t>(std::countr_zero(words));
      bits = classes_[word];
      if (bits == 0) words_ &= ~(std::uint32_t{1} << word);
    }
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
    bits &= bits - 1;
    return lists_.head(word * 64 + bit);
  }

  // No branch: processors cannot predict whether a class has one block or more.
  void clear_if(bool is_empty, std::size_t list) {
    classes_[word_of(list)] &= ~(std::uint64_t{is_empty} << list % 64);
  }

  void push(block_table& table, std::size_t list, index which) {
    table[which].tag = static_cast<std::uint16_t>(list);
    lists_.push(table, list, which);
    classes_[word_of(list)] |= std::uint64_t{1} << list % 64;
    words_ |= std::uint32_t{1} << word_of(list);
  }

  int shift_;
  std::uint32_t words_ = 0;
  std::array<std::uint64_t, (list_count + 63) / 64> classes_{};
  free_lists<list_count> lists_;
};

}  // namespace warpheap::host
