// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <concepts>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Number of set bits of `word`.
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr int popcount(Word word) {
  return WARPHEAP_BIT::popcount(word);
}

/// Position of the lowest set bit, 0-based. \pre `word != 0`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr int lowest_bit(Word word) {
  return WARPHEAP_BIT::countr_zero(word);
}

/// Position of the highest set bit, 0-based. \pre `word != 0`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr int highest_bit(Word word) {
  return static_cast<int>(sizeof(Word) * 8) - 1 - WARPHEAP_BIT::countl_zero(word);
}

/// Where `length` consecutive set bits begin, as bits. O(log length). \pre `length != 0`, and at
/// most as many as a word has \tparam Word unsigned; 128 bits, too, which `std::unsigned_integral`
/// leaves out
template <class Word>
WARPHEAP_HD constexpr Word starts_of_runs(Word word, int length) {
  for (int have = 1; have < length;) {
    const int step = have < length - have ? have : length - have;
    word = static_cast<Word>(word & word >> step);
    have += step;
  }
  return word;
}

/// The largest k with 2^k <= value. \pre `value != 0`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr int floor_log2(Word value) {
  return highest_bit(value);
}

/// The smallest k with 2^k >= value. \pre `value != 0`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr int ceil_log2(Word value) {
  return value <= 1 ? 0 : highest_bit(static_cast<Word>(value - 1)) + 1;
}

template <std::unsigned_integral Word>
WARPHEAP_HD constexpr bool is_power_of_two(Word value) {
  return value != 0 && (value & (value - 1)) == 0;
}

/// A word whose `count` lowest bits are set. \pre `count <= width of Word`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word low_bits(int count) {
  constexpr int width = static_cast<int>(sizeof(Word) * 8);
  return count >= width ? static_cast<Word>(~Word{0})
                        : static_cast<Word>((Word{1} << count) - Word{1});
}

/// A word with the `count` bits from `first` on set. \pre `first + count <= width of Word`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word bit_range(int first, int count) {
  return static_cast<Word>(low_bits<Word>(count) << first);
}

/// The bits of word `index` of a bitmap of `count` bits that lie behind the last of them.
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr Word bits_beyond(std::uint64_t count, std::uint64_t index) {
  constexpr int width = static_cast<int>(sizeof(Word) * 8);
  const std::uint64_t first = index * width;
  if (first >= count) return static_cast<Word>(~Word{0});
  const std::uint64_t left = count - first;
  return left >= width ? Word{0} : static_cast<Word>(~low_bits<Word>(static_cast<int>(left)));
}

/// Position of the set bit of `word` that has exactly `k` set bits below it, by binary search over
/// population counts (`fks` of the random-walk paper, there 1-based). \pre `k < popcount(word)`
template <std::unsigned_integral Word>
WARPHEAP_HD constexpr int kth_set_bit(Word word, int k) {
  int position = 0;
  for (int width = static_cast<int>(sizeof(Word) * 4); width != 0; width /= 2) {
    const Word half = static_cast<Word>(word & low_bits<Word>(width));
    const int below = popcount(half);
    if (below <= k) {
      k -= below;
      position += width;
      word = static_cast<Word>(word >> width);
    } else {
      word = half;
    }
  }
  return position;
}

WARPHEAP_END_NAMESPACE
