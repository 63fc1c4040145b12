// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "warpheap/core/align.hpp"

namespace warpheap::host {

/// A row of bits that is searched and filled word by word. Complexity: O(bits passed / 64).
class bit_array {
 public:
  explicit bit_array(std::size_t bits) : size_(bits), words_(ceil_div<std::size_t>(bits, 64)) {}

  /// Adds bits that are not set.
  void extend(std::size_t bits) {
    size_ += bits;
    words_.resize(ceil_div<std::size_t>(size_, 64));
  }

  std::size_t size() const { return size_; }
  bool test(std::size_t bit) const { return (words_[bit / 64] >> bit % 64 & 1) != 0; }

  void fill(std::size_t first, std::size_t count, bool value) {
    const std::size_t last = first + count;
    while (first < last) {
      const std::size_t width = std::min(64 - first % 64, last - first);
      const std::uint64_t mask = (~std::uint64_t{0} >> (64 - width)) << first % 64;
      std::uint64_t& word = words_[first / 64];
      word = value ? word | mask : word & ~mask;
      first += width;
    }
  }

  /// The first bit of this value from `from` on, or size().
  std::size_t next(std::size_t from, bool value) const {
    for (; from < size_; from = (from / 64 + 1) * 64) {
      const std::uint64_t word = read(from / 64, value) >> from % 64;
      if (word != 0) return std::min(from + std::countr_zero(word), size_);
    }
    return size_;
  }

  /// One more than the last bit of this value before `end`, or 0.
  std::size_t end_of_last(std::size_t end, bool value) const {
    while (end != 0) {
      const std::size_t width = (end - 1) % 64 + 1;
      const std::uint64_t word = read((end - 1) / 64, value) << (64 - width);
      if (word != 0) return end - std::countl_zero(word);
      end -= width;
    }
    return 0;
  }

 private:
  std::uint64_t read(std::size_t word, bool value) const {
    return value ? words_[word] : ~words_[word];
  }

  std::size_t size_;
  std::vector<std::uint64_t> words_;
};

}  // namespace warpheap::host
