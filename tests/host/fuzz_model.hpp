// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>

namespace warpheap::test {

// A property that does not hold: libFuzzer keeps the input that led here.
inline void expect(bool holds) {
  if (!holds) std::abort();
}

/// The blocks that a fuzzer holds, by where they start. They must not overlap.
class model {
 public:
  void add(std::uint64_t base, std::uint64_t bytes) {
    const auto above = blocks_.lower_bound(base);
    expect(above == blocks_.end() || above->first >= base + bytes);
    if (above != blocks_.begin()) {
      const auto below = std::prev(above);
      expect(below->first + below->second <= base);
    }
    blocks_[base] = bytes;
    bytes_ += bytes;
  }
  void remove(std::uint64_t base) {
    bytes_ -= blocks_.at(base);
    blocks_.erase(base);
  }
  void cut(std::uint64_t base, std::uint64_t taken) {
    blocks_.at(base) -= taken;
    bytes_ -= taken;
  }
  std::uint64_t pick(std::size_t which) const {
    return std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(which % blocks_.size()))->first;
  }
  bool has(std::uint64_t base) const { return blocks_.count(base) != 0; }
  bool empty() const { return blocks_.empty(); }
  std::size_t count() const { return blocks_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::map<std::uint64_t, std::uint64_t> blocks_;
  std::uint64_t bytes_ = 0;
};

}  // namespace warpheap::test
