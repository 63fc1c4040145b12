// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpheap::host {

/// An address in the managed memory. The pools compute with addresses and never dereference them:
/// the memory may belong to a device that this processor cannot access.
using address = std::uintptr_t;

/// `bytes` bytes from `base` on. An extent of 0 bytes is empty: it stands for "nothing", such as a
/// failed search.
struct extent {
  address base = 0;
  std::size_t bytes = 0;

  constexpr address end() const { return base + bytes; }
  constexpr bool contains(address where) const { return where - base < bytes; }
  constexpr explicit operator bool() const { return bytes != 0; }
  friend constexpr bool operator==(extent, extent) = default;
};

/// `where` as logs and messages write it: 0x7f00.
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
