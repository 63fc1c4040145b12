// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

/// For each kind of chunks: whether a search has found that no place for a block of so many chunks
/// is left, in any slab. Then requests fail at once, until something comes back.
///
/// A search examines, by read-modify-writes with acquire and release, the word of every slab and,
/// where that says that there may be room, all words of the slab's bits. So does whatever makes
/// room, and ends shortages after that: see `exhaustion`.
class shortages {
 public:
  static constexpr std::uint32_t kinds = 4;

  shortages() = default;
  WARPHEAP_HD explicit shortages(exhaustion* words) : words_(words) {}

  WARPHEAP_DEVICE exhaustion& of(std::uint32_t kind) const { return words_[kind]; }
  /// Chunks of this kind have come back.
  WARPHEAP_DEVICE void end(std::uint32_t kind) const { words_[kind].released(); }
  /// A slab has become free, or is available although it is a head; or it is not known what kind of
  /// chunks has come back.
  WARPHEAP_DEVICE void end_all() const {
    for (std::uint32_t kind = 0; kind < kinds; ++kind) words_[kind].released();
  }

 private:
  exhaustion* words_ = nullptr;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
