// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Coalesced requests: lanes that call together for small blocks ask for one, their parent, and
/// each gets a piece of it. The parent counts live pieces, and is freed with the last one.

#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

template <xmalloc_config Config>
struct coalescing {
  using sizes = geometry<Config>;

  /// The lanes whose requests are combined, and the caller's position among them.
  struct request {
    simt::group members;
    /// Bytes from the first piece to the caller's, and of all.
    sync::group_sum<std::uint32_t> bytes;
  };

  /// The largest part of `team`, the caller in it, whose requests fit into a Basicblock together: a
  /// team that is too large is halved by rank. A collective of `team`.
  WARPHEAP_DEVICE static request fit(simt::group team, std::size_t bytes) {
    const std::uint32_t pitch = sizes::piece_pitch(bytes);
    for (;;) {
      const auto sums = sync::sum_over(team, pitch);
      // Ends: a single request fits.
      if (sizes::first_piece + sums.total <= sizes::largest_basic) return {team, sums};
      const bool low = 2 * team.rank() < team.size();
      const simt::lane_mask lower = team.ballot(low);
      team = simt::group(low ? lower : team.mask() - lower);
    }
  }

  /// Makes `parent`, which has room for all of `asked`, the parent of all members; each gets its
  /// piece. A collective of the members.
  WARPHEAP_DEVICE static std::byte* split(const request& asked, std::byte* parent) {
    if (asked.members.is_leader()) {
      const auto pieces = static_cast<std::uint32_t>(asked.members.size());
      live(parent) = pieces;
      std::uint32_t& word = word_before(parent);
      word = block_word(word).with_pieces(pieces).bits();
    }
    // The count must stand before any piece can be freed: all members pass here first.
    asked.members.sync();
    const std::uint32_t back = sizes::first_piece + asked.bytes.before;
    std::byte* const piece = parent + back + sizeof(std::uint32_t);
    word_before(piece) = block_word::piece(back).bits();
    return piece;
  }

  /// Frees the caller's piece. Returns the parent if it has no live piece any more and the caller
  /// must free it; otherwise null. Lanes that call together free pieces of one parent by one
  /// atomic.
  WARPHEAP_DEVICE static std::byte* free_piece(std::byte* piece) {
    std::uint32_t& word = word_before(piece);
    std::byte* const parent = piece - sizeof(std::uint32_t) - block_word(word).back();
    word = 0;
    const simt::group same = simt::coalesced(parent);
    same.sync();  // the leader's release is for what all members did
    if (!same.is_leader()) return nullptr;
    const auto freed = static_cast<std::uint32_t>(same.size());
    // Release, and acquire for the last one: the parent is freed after all accesses to its pieces.
    if (simt::atomic_ref(live(parent)).fetch_sub(freed, simt::order::acq_rel) != freed) {
      return nullptr;
    }
    std::uint32_t& of_parent = word_before(parent);
    of_parent = block_word(of_parent).with_pieces(0).bits();
    return parent;
  }

  /// Live pieces of a parent.
  WARPHEAP_HD static std::uint32_t& live(std::byte* parent) {
    return *reinterpret_cast<std::uint32_t*>(parent);
  }
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
