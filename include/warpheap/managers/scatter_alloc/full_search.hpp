// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The last resort of a request for a chunk or a page: a search of all pages. All lanes that
/// need one share it, so its cost to a launch does not depend on how many requests fail.

#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/page_supply.hpp"
#include "warpheap/managers/scatter_alloc/page_table.hpp"
#include "warpheap/managers/scatter_alloc/page_teams.hpp"
#include "warpheap/managers/scatter_alloc/room_seen.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

template <scatter_config Config>
class full_search {
  using sizes = geometry<Config>;
  using table = page_table<Config>;
  using seen = room_seen<Config>;

 public:
  WARPHEAP_DEVICE explicit full_search(const page_supply<Config>& pages) : pages_(pages) {}

  /// A chunk of `request` units or up to twice that, or a page (`page_request`). Null if nothing
  /// suits, or if others spoilt each round.
  WARPHEAP_DEVICE void* take(std::uint32_t request) const {
    void* block = nullptr;
    for (int i = 0; i < most_rounds && block == nullptr; ++i) {
      const simt::group same = simt::coalesced(&pages_.searches()).match(request);
      pages_.searches().search(
          same, pages_.table().pages(), [&] { return block == nullptr ? request : 0u; },
          [&](std::uint32_t first, std::uint32_t count) {
            return visit(same, first, count, request, block);
          });
      same.sync();  // what the lanes that served others have acquired is theirs as well
      if (pages_.out().is_out(request)) break;
      if (block == nullptr) block = take_seen(request);
    }
    return block;
  }

 private:
  /// The number of rounds of a request, if others spoil each. It is small: a heap that is always
  /// nearly full is searched all the time, and each round visits all pages.
  static constexpr int most_rounds = 4;
  static constexpr std::uint32_t nothing = 0xffffffffu;

  /// Examines `count` pages from `first` on, and serves the members of `same` from them.
  WARPHEAP_DEVICE typename seen::noted visit(const simt::group& same, std::uint32_t first,
                                             std::uint32_t count, std::uint32_t request,
                                             void*& block) const {
    const auto size = static_cast<std::uint32_t>(same.size());
    const auto rank = static_cast<std::uint32_t>(same.rank());
    for (std::uint32_t base = 0; base < count; base += size) {
      const std::uint32_t mine = first + base + rank;
      std::uint32_t room = base + rank < count ? room_in(mine) : nothing;
      const bool useful = suits(request, room);
      simt::lane_mask found = same.ballot(useful);
      simt::lane_mask left = same.ballot(block == nullptr);
      for (; !found.empty() && !left.empty(); found = found.without(found.lowest())) {
        const std::uint32_t page = same.shuffle(mine, found.lowest());
        if (block == nullptr) block = take_at(simt::group(left), page, request);
        left = same.ballot(block == nullptr);
      }
      if (useful) room = room_in(mine);  // again: the members have taken some of it
      if (room != nothing) pages_.searches().known().add(room, mine);
    }
    return {};
  }

  /// The units of the chunks that a page has left, `free_page`, or nothing.
  WARPHEAP_DEVICE std::uint32_t room_in(std::uint32_t page) const {
    const page_state now = pages_.table().examine(page);
    if (now.is_unused()) return pages_.is_free(page) ? seen::free_page : nothing;
    return now.has_chunks() && table::has_room(now, now.units()) ? now.units() : nothing;
  }

  WARPHEAP_DEVICE static bool suits(std::uint32_t request, std::uint32_t room) {
    if (room == nothing || room == seen::free_page) return room == seen::free_page;
    return request != sizes::page_request && sizes::suits(request, room);
  }

  WARPHEAP_DEVICE void* take_at(const simt::group& same, std::uint32_t page,
                                std::uint32_t request) const {
    if (request != sizes::page_request) {
      return page_teams<Config>(pages_).take(same, page, request);
    }
    return same.is_leader() ? pages_.take_page(page) : nullptr;
  }

  /// From a page that was seen by lanes which wanted something else.
  WARPHEAP_DEVICE void* take_seen(std::uint32_t request) const {
    const std::uint32_t page = pages_.searches().known().page_for(request);
    if (page == seen::none) return nullptr;
    const std::uint64_t meeting = std::uint64_t{page} << 32 | request;
    return take_at(simt::coalesced(&pages_.searches()).match(meeting), page, request);
  }

  const page_supply<Config>& pages_;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
