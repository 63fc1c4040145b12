// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace warpheap::host {

/// A place in the managed memory. The allocators here compute with addresses and never dereference
/// one: the memory may belong to a device that this processor cannot reach.
using address = std::uintptr_t;

/// `bytes` bytes from `base` on. No bytes means "nothing": what a search that failed returns.
struct extent {
  address base = 0;
  std::size_t bytes = 0;

  constexpr address end() const { return base + bytes; }
  constexpr bool contains(address where) const { return where - base < bytes; }
  constexpr explicit operator bool() const { return bytes != 0; }
  friend constexpr bool operator==(extent, extent) = default;
};

/// The smallest multiple of `step` that is >= `value`. \pre `step` is a power of two
template <class Word>
constexpr Word align_up(Word value, Word step) {
  return (value + (step - 1)) & ~(step - 1);
}

/// The smallest k with 2^k >= value. \pre `value != 0`
constexpr int ceil_log2(std::size_t value) { return static_cast<int>(std::bit_width(value - 1)); }

/// The largest k with 2^k <= value. \pre `value != 0`
constexpr int floor_log2(std::size_t value) { return static_cast<int>(std::bit_width(value)) - 1; }

/// `where` the way that logs and messages write it: 0x7f00.
inline std::string to_text(address where) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), digits[where & 15]);
    where >>= 4;
  } while (where != 0);
  return "0x" + text;
}

}  // namespace warpheap::host
