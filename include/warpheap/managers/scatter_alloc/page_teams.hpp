// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Teams: lanes that meet at a page with the same size are served there together.

#include "warpheap/core/bits.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/page_supply.hpp"
#include "warpheap/managers/scatter_alloc/page_table.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

template <scatter_config Config>
class page_teams {
  using sizes = geometry<Config>;

 public:
  WARPHEAP_DEVICE explicit page_teams(const page_supply<Config>& pages) : pages_(pages) {}

  /// Chunks for members of `same`, which all want `units`, in one page; null for those without.
  WARPHEAP_DEVICE void* take(const simt::group& same, std::uint32_t page,
                             std::uint32_t units) const {
    const auto size = static_cast<std::uint32_t>(same.size());
    std::uint32_t opened = 0;
    page_state reserved{0};
    if (same.is_leader()) {
      page_state seen = pages_.table().look(page);
      if (seen.is_unused()) {
        opened = pages_.open(page, units, size);
        // Another lane has taken the page, and may have left room.
        if (opened == 0) seen = pages_.table().look(page);
      }
      if (opened == 0) reserved = pages_.table().reserve(page, seen, units, size);
    }
    same.sync();  // what the leader has acquired is the members' as well
    opened = same.broadcast(opened);
    if (opened != 0) return first(page, units, same.rank(), opened);
    reserved = page_state{same.broadcast(reserved.word())};
    return reserved.count() == 0 ? nullptr : take_reserved(same, page, reserved);
  }

  /// The chunk that a member has of a page that its leader has opened, the first `opened` chunks
  /// being the team's.
  WARPHEAP_DEVICE void* first(std::uint32_t page, std::uint32_t units, int rank,
                              std::uint32_t opened) const {
    const auto chunk = static_cast<std::uint32_t>(rank);
    return chunk < opened ? pages_.table().address(page, units, chunk) : nullptr;
  }

 private:
  /// The first members take the chunks that their leader has reserved, word by word. Ends: a
  /// reserved chunk exists, either where the leader looks or in a word that it comes to later, and
  /// chunks that others take first are those that they have reserved.
  WARPHEAP_DEVICE void* take_reserved(const simt::group& same, std::uint32_t page,
                                      page_state reserved) const {
    const auto rank = static_cast<std::uint32_t>(same.rank());
    const std::uint32_t segments = sizes::segments(reserved.units());
    auto turn = static_cast<std::uint32_t>(simt::thread_rank() / simt::warp_size * 7 +
                                           static_cast<std::uint32_t>(simt::lane_id()));
    void* block = nullptr;
    std::uint32_t handed = 0;
    for (std::uint32_t looks = 0; handed < reserved.count(); ++looks, ++turn) {
      chunk_set got;
      if (same.is_leader()) {
        // Segments that were seen full are skipped once.
        got = pages_.table().take(page, reserved.units(), reserved.count() - handed, turn,
                                  looks < segments);
      }
      got.first = same.broadcast(got.first);
      got.bits = same.broadcast(got.bits);
      const auto count = static_cast<std::uint32_t>(popcount(got.bits));
      if (rank >= handed && rank < handed + count) {
        const int bit = kth_set_bit(got.bits, static_cast<int>(rank - handed));
        block = pages_.table().address(page, reserved.units(),
                                       got.first + static_cast<std::uint32_t>(bit));
      }
      handed += count;
    }
    same.sync();  // what the leader has acquired is the members' as well
    return block;
  }

  const page_supply<Config>& pages_;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
