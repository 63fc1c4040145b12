// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Runs of consecutive elements of a `bitmap_tree`: insert or claim a given run, find the last run
/// of a given length, or the first one after a position. A run may span leaf words.
///
/// A claim takes a whole run or nothing. While it takes the words of a long run one after another,
/// other lanes may miss a part that is put back later, and then choose worse runs than they
/// otherwise would. If it matters that the last run is taken, claim only one run at a time.
///
/// Progress: lock-free. A claim starts again only if another lane has taken an element of its run.

#include "warpheap/sync/bitmap_tree.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The part of the run first..first+length-1 that lies in leaf word `word`, as bits of that word.
WARPHEAP_HD constexpr std::uint64_t bits_of_run(std::uint32_t first, std::uint32_t length,
                                                std::uint32_t word) {
  const std::uint32_t begin = first > word * 64 ? first - word * 64 : 0;
  const std::uint32_t end = first + length - word * 64;
  return bit_range<std::uint64_t>(static_cast<int>(begin),
                                  static_cast<int>((end < 64 ? end : 64) - begin));
}

/// Inserts first..first+length-1. O(length / 64). \pre `length != 0`
WARPHEAP_DEVICE inline void insert_run(const bitmap_tree& tree, std::uint32_t first,
                                       std::uint32_t length) {
  for (std::uint32_t word = first / 64; word <= (first + length - 1) / 64; ++word) {
    tree.insert_bits(word, bits_of_run(first, length, word));
  }
}

/// Whether all of first..first+length-1 are in the set. \pre `length != 0`
WARPHEAP_DEVICE inline bool contains_run(const bitmap_tree& tree, std::uint32_t first,
                                         std::uint32_t length) {
  for (std::uint32_t word = first / 64; word <= (first + length - 1) / 64; ++word) {
    const std::uint64_t bits = bits_of_run(first, length, word);
    if ((tree.load_word(word) & bits) != bits) return false;
  }
  return true;
}

/// Removes first..first+length-1 if all of them are in the set. Returns whether they were. If an
/// element is missing, exactly what was taken before is put back.
/// \pre `length != 0`
WARPHEAP_DEVICE inline bool claim_run(const bitmap_tree& tree, std::uint32_t first,
                                      std::uint32_t length) {
  // From the back, where searches begin: two lanes that want overlapping runs then meet at the
  // first word that both want, and not when each holds a part of what the other wants.
  const std::uint32_t last = (first + length - 1) / 64;
  for (std::uint32_t word = last + 1; word-- > first / 64;) {
    if (tree.remove_all_bits(word, bits_of_run(first, length, word))) continue;
    for (std::uint32_t taken = word + 1; taken <= last; ++taken) {
      tree.insert_bits(taken, bits_of_run(first, length, taken));
    }
    return false;
  }
  return true;
}

/// The highest element of the universe's last run of at least `length` elements, as seen word by
/// word; or none. O(universe / 64).
WARPHEAP_DEVICE inline std::uint32_t find_last_run(const bitmap_tree& tree, std::uint32_t length) {
  std::uint32_t top = 0;   // highest element of the run that reaches down to where we are
  std::uint32_t have = 0;  // its length so far
  for (std::uint32_t word = tree.leaf_words(); word-- > 0;) {
    std::uint64_t bits = tree.load_word(word);
    int left = 64;  // bits of the word that are still to be looked at, the lowest ones
    while (left > 0) {
      const std::uint64_t rest = bits & low_bits<std::uint64_t>(left);
      if ((rest >> (left - 1)) == 0) {  // the run, if any, ends here: on to the next element
        have = 0;
        left = rest == 0 ? 0 : highest_bit(rest) + 1;
        continue;
      }
      const std::uint64_t gaps = ~rest & low_bits<std::uint64_t>(left);
      const int ones = gaps == 0 ? left : left - 1 - highest_bit(gaps);
      if (have == 0) top = word * 64 + static_cast<std::uint32_t>(left - 1);
      have += static_cast<std::uint32_t>(ones);
      if (have >= length) return top;
      left -= ones;
    }
  }
  return bitmap_tree::none;
}

/// A run to search for: at least `length` elements, starting at one of the places that are `step`
/// apart. \pre `step` is a power of two, and `offset`, the first of these places, is below it
struct run_shape {
  std::uint32_t length;
  std::uint32_t step = 1;
  std::uint32_t offset = 0;

  /// The first place at or after `element`.
  WARPHEAP_HD constexpr std::uint32_t place_from(std::uint32_t element) const {
    return element + ((offset - element) & (step - 1));
  }
};

/// Looks for the first run of a given shape in leaf words, which must come in ascending order.
/// Words that are left out have no elements.
class run_finder {
 public:
  WARPHEAP_DEVICE explicit run_finder(run_shape wanted) : wanted_(wanted) {}

  /// Whether the run ends in this word.
  WARPHEAP_DEVICE bool ends_in(std::uint32_t word, std::uint64_t bits) {
    if (word != next_) within_ = false;
    next_ = word + 1;
    int at = 0;
    while (bits != 0) {
      const int gap = lowest_bit(bits);
      if (gap != 0) within_ = false;
      at += gap;
      bits >>= gap;
      const std::uint64_t ended = ~bits;
      const int ones = ended == 0 ? 64 : lowest_bit(ended);
      if (!within_) first_ = wanted_.place_from(word * 64 + static_cast<std::uint32_t>(at));
      within_ = true;
      at += ones;
      const std::uint32_t end = word * 64 + static_cast<std::uint32_t>(at);
      if (end > first_ && end - first_ >= wanted_.length) return true;
      bits = ones == 64 ? 0 : bits >> ones;
    }
    if (at != 64) within_ = false;
    return false;
  }
  /// Its lowest element. \pre a word was found in which it ends
  WARPHEAP_DEVICE std::uint32_t first() const { return first_; }

 private:
  run_shape wanted_;
  std::uint32_t next_ = 0;   // word that comes after the last one
  std::uint32_t first_ = 0;  // first place in the elements that reach up to there
  bool within_ = false;      // whether there are such
};

/// The lowest element of the first run of a given shape that begins in leaf word `from` or later,
/// as seen word by word by `look(word)`; or none. Looks at each of `words` words and ignores the
/// hints, which cannot be trusted for long while many lanes change the set. O(words).
template <class Look>
WARPHEAP_DEVICE std::uint32_t find_run_in(std::uint32_t words, run_shape wanted, std::uint32_t from,
                                          const Look& look) {
  // Several looks are under way at a time: each waits for memory.
  constexpr std::uint32_t ahead = 4;
  run_finder run(wanted);
  for (std::uint32_t word = from; word < words;) {
    std::uint64_t seen[ahead];
    for (std::uint32_t i = 0; i < ahead; ++i) seen[i] = word + i < words ? look(word + i) : 0;
    for (std::uint32_t i = 0; i < ahead; ++i, ++word) {
      if (run.ends_in(word, seen[0])) return run.first();
      for (std::uint32_t k = 1; k < ahead; ++k) seen[k - 1] = seen[k];
    }
  }
  return bitmap_tree::none;
}
/// The same in a set, for runs that may begin anywhere. Follows hints: for sets of many words that
/// few lanes change at a time.
WARPHEAP_DEVICE inline std::uint32_t find_run_from(const bitmap_tree& tree, std::uint32_t length,
                                                   std::uint32_t from) {
  run_finder run(run_shape{length});
  for (std::uint32_t word = from; word < tree.leaf_words(); ++word) {
    std::uint64_t bits = tree.load_word(word);
    if (bits == 0) {  // on to the next word with elements
      const std::uint32_t next = tree.successor((word + 1) * 64);
      if (next == bitmap_tree::none) return bitmap_tree::none;
      word = next / 64;
      bits = tree.load_word(word);
    }
    if (run.ends_in(word, bits)) return run.first();
  }
  return bitmap_tree::none;
}

/// Removes the first `length` consecutive elements from leaf word `from` on, and returns the lowest
/// of them, or none. O(universe / 64) for each run that is lost to other lanes.
/// \pre `length != 0`
WARPHEAP_DEVICE inline std::uint32_t claim_run_from(const bitmap_tree& tree, std::uint32_t length,
                                                    std::uint32_t from) {
  for (;;) {
    const std::uint32_t first = find_run_from(tree, length, from);
    if (first == bitmap_tree::none || claim_run(tree, first, length)) return first;
    from = first / 64;
  }
}

WARPHEAP_END_NAMESPACE
