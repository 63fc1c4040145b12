// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

/// For each kind of chunks: the search of all slabs, which requests share, and whether it found
/// that no place is left for a block of some number of chunks. Requests then fail at once, until
/// something comes back.
///
/// A round examines the word of every slab, by read-modify-writes with acquire and release; if the
/// word says that there may be room, it also examines all words of the slab's bits. Whatever makes
/// room changes these words in the same way, and ends shortages afterwards: see `exhaustion`.
class shortages {
 public:
  static constexpr std::uint32_t kinds = 4;

  /// Requests count the rounds themselves. A slice is one place, which has many words.
  using search = shared_search<1, longest_runs<exhaustion>, 1>;
  /// A cache line of its own.
  struct alignas(128) of_kind {
    search all;
  };

  shortages() = default;
  WARPHEAP_HD explicit shortages(of_kind* searches) : searches_(searches) {}

  WARPHEAP_DEVICE search& searches(std::uint32_t kind) const { return searches_[kind].all; }
  WARPHEAP_DEVICE bool is_out(std::uint32_t kind, std::uint32_t span) const {
    return searches(kind).is_out(span);
  }
  /// Chunks of this kind have come back.
  WARPHEAP_DEVICE void end(std::uint32_t kind) const { searches(kind).released(); }
  /// A slab has become free, or is available although it is a head; or chunks of an unknown kind
  /// have come back.
  WARPHEAP_DEVICE void end_all() const {
    for (std::uint32_t kind = 0; kind < kinds; ++kind) end(kind);
  }

 private:
  of_kind* searches_ = nullptr;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
