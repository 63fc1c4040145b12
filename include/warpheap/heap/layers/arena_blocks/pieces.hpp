// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the pieces of an arena lie in the heap, and what leads to them.
///
///     piece   [ next | used | order, 12 B unused ][ granules of 16 B ... ]   a block of the heap
///     single  [ next | granules ][ the caller's ]                           a block of the heap
///     shard   [ current | first | growths ] [ singles: a list for each lane number ]
///
///     first -> piece -> piece -> piece (current) -> piece -> piece
///              handed out, but for their ends       kept by `rewind`

#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace arena_parts {

/// What a request is rounded up to, and every block aligned to.
inline constexpr std::size_t granule = 16;

struct alignas(granule) piece {
  piece* next;          ///< of the shard, in the order of their use
  std::uint64_t used;   ///< granules. More than there are: a lane is about to take that back
  std::uint32_t order;  ///< it is `order` times twice as large as the smallest

  WARPHEAP_DEVICE std::byte* granules() { return reinterpret_cast<std::byte*>(this + 1); }
};

/// A request that no piece serves.
struct alignas(granule) single {
  single* next;
  std::uint64_t granules;
};

/// A piece and its order in one word, so that a request need not read the piece before it takes
/// from it: what a multiprocessor keeps of the piece's memory may be older than the piece.
class piece_word {
 public:
  /// No piece.
  piece_word() = default;
  WARPHEAP_DEVICE explicit piece_word(std::uint64_t bits) : bits_(bits) {}
  WARPHEAP_DEVICE explicit piece_word(piece* at)
      : bits_(reinterpret_cast<std::uintptr_t>(at) | at->order) {}

  static constexpr int most_order = granule - 1;

  WARPHEAP_DEVICE std::uint64_t bits() const { return bits_; }
  WARPHEAP_DEVICE bool is_none() const { return bits_ == 0; }
  WARPHEAP_DEVICE int order() const { return static_cast<int>(bits_ & order_mask); }
  WARPHEAP_DEVICE piece* at() const { return reinterpret_cast<piece*>(bits_ & ~order_mask); }

 private:
  static constexpr std::uint64_t order_mask = granule - 1;
  std::uint64_t bits_ = 0;
};

/// The lanes of a multiprocessor take from the same piece. A lane that looks for the next piece has
/// the shard's turn: `growths` is [ turns that have ended: 30 | the last one found none | growing
/// ].
struct alignas(128) shard {
  std::uint64_t current;  ///< a `piece_word`
  piece* first;
  std::uint32_t growths;
  alignas(128) single* singles[simt::warp_size];

  WARPHEAP_DEVICE static bool is_growing(std::uint32_t turn) { return (turn & 1u) != 0; }
  WARPHEAP_DEVICE static bool last_failed(std::uint32_t turn) { return (turn & 2u) != 0; }
  WARPHEAP_DEVICE static std::uint32_t begun(std::uint32_t turn) { return turn | 1u; }
  /// \param turn before it began
  WARPHEAP_DEVICE static std::uint32_t ended(std::uint32_t turn, bool succeeded) {
    return (turn & ~3u) + 4 + (succeeded ? 0 : 2);
  }
};

}  // namespace arena_parts
WARPHEAP_END_NAMESPACE
