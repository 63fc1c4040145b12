// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How a request finds its chunk: by probing from the hashed page on, region by region; then on any
/// free page; then by a search of all pages. Lanes that meet at a page with the same size are
/// served there together.

#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/page_supply.hpp"
#include "warpheap/managers/scatter_alloc/page_table.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

template <scatter_config Config>
class chunk_search {
 public:
  using sizes = geometry<Config>;

  WARPHEAP_DEVICE explicit chunk_search(const page_supply<Config>& pages) : pages_(pages) {}

  /// A chunk of `units` or up to twice that, or null.
  WARPHEAP_DEVICE void* take(std::uint32_t units) const {
    if (pages_.out().is_out(units)) return nullptr;
    const std::uint32_t start = pages_.start_page(units * sizes::unit_bytes);
    void* block = probe(start, units);
    if (block == nullptr) block = settle(start, units);
    for (int i = 0; block == nullptr && i < most_searches; ++i) {
      bool in_vain = false;
      block = search_all(units, in_vain);
      if (in_vain) break;
    }
    return block;
  }

 private:
  using table = page_table<Config>;

  /// Searches of all pages, if each is spoiled by what others free: few, for a heap that is always
  /// nearly full spoils most of them.
  static constexpr int most_searches = 2;

  /// Linear probing in the Super Block of `start`.
  WARPHEAP_DEVICE void* probe(std::uint32_t start, std::uint32_t units) const {
    const auto& blocks = pages_.blocks();
    const std::uint32_t block = blocks.block_of(start);
    const std::uint32_t first = blocks.first_page(block);
    const std::uint32_t end = blocks.end_page(block);
    const std::uint32_t regions = (end - first + Config.region_pages - 1) / Config.region_pages;
    const std::uint32_t probes = regions < Config.probed_regions ? regions : Config.probed_regions;
    std::uint32_t page = start;
    for (std::uint32_t i = 0; i < probes; ++i) {
      const std::uint32_t region = page / Config.region_pages;
      const std::uint32_t level = blocks.level(region);
      if (!blocks.rejects(level)) {
        // Round and round inside of the region.
        for (std::uint32_t j = 0; j < Config.region_pages; ++j) {
          const std::uint32_t at = region * Config.region_pages + (page + j) % Config.region_pages;
          if (at >= end || !seems_useful(at, units)) continue;
          const std::uint64_t meeting = std::uint64_t{at} << 32 | units;
          void* const found = take_in<false>(simt::coalesced().match(meeting), at, units);
          if (found != nullptr) return found;
        }
        blocks.reject(region, level);
      }
      page = (region + 1) * Config.region_pages;
      if (page >= end) page = first;
    }
    return nullptr;
  }

  WARPHEAP_DEVICE bool seems_useful(std::uint32_t page, std::uint32_t units) const {
    const page_state seen = pages_.table().look(page);
    return seen.is_unused() ? pages_.seems_free(page) : table::has_room(seen, units);
  }

  /// Chunks for members of `same`, who all want `units`, in one page; null for those without.
  /// \tparam Newest whether the page is looked at as `size_exhaustion` asks of searchers
  template <bool Newest>
  WARPHEAP_DEVICE void* take_in(const simt::group& same, std::uint32_t page,
                                std::uint32_t units) const {
    const auto size = static_cast<std::uint32_t>(same.size());
    std::uint32_t opened = 0;
    page_state reserved{0};
    if (same.is_leader()) {
      const auto look = [&] {
        return Newest ? pages_.table().examine(page) : pages_.table().look(page);
      };
      page_state seen = look();
      if (seen.is_unused()) {
        opened = pages_.open(page, units, size);
        if (opened == 0) seen = look();  // another lane was faster, and may have left room
      }
      if (opened == 0) reserved = pages_.table().reserve(page, seen, units, size);
    }
    same.sync();  // what the leader has acquired is the members' as well
    opened = same.broadcast(opened);
    if (opened != 0) return first_chunk(page, units, same.rank(), opened);
    reserved = page_state{same.broadcast(reserved.word())};
    return reserved.count() == 0 ? nullptr : take_reserved(same, page, reserved);
  }

  /// The chunk that a member has of a page that its leader has opened, the first `opened` chunks
  /// being the group's.
  WARPHEAP_DEVICE void* first_chunk(std::uint32_t page, std::uint32_t units, int rank,
                                    std::uint32_t opened) const {
    const auto chunk = static_cast<std::uint32_t>(rank);
    return chunk < opened ? pages_.table().address(page, units, chunk) : nullptr;
  }

  /// The first members take the chunks that their leader has reserved, word by word. Ends: a chunk
  /// that is reserved is there, if not where the leader looks then in a word that it comes to, and
  /// one that others take first is theirs.
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
        // Segments that were seen full are passed over once.
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

  /// A free page, wherever it is, for lanes that want the same. Each round serves some of them.
  WARPHEAP_DEVICE void* settle(std::uint32_t start, std::uint32_t units) const {
    for (;;) {
      const simt::group same = simt::coalesced().match(units);
      std::uint32_t page = page_supply<Config>::none;
      std::uint32_t opened = 0;
      if (same.is_leader()) {
        page = pages_.open_any(start, units, static_cast<std::uint32_t>(same.size()), opened);
      }
      same.sync();  // what the leader has acquired is the members' as well
      page = same.broadcast(page);
      opened = same.broadcast(opened);
      if (page == page_supply<Config>::none) return nullptr;
      void* const block = first_chunk(page, units, same.rank(), opened);
      if (block != nullptr) return block;
    }
  }

  /// Looks at every page, in a way that makes room for nobody to miss.
  /// \param in_vain true if it is certain that nothing is there for the caller
  WARPHEAP_DEVICE void* search_all(std::uint32_t units, bool& in_vain) const {
    const simt::group same = simt::coalesced().match(units);
    const auto rank = static_cast<std::uint32_t>(same.rank());
    const auto size = static_cast<std::uint32_t>(same.size());
    const std::uint32_t pages = pages_.table().pages();
    std::uint64_t epoch = 0;
    if (same.is_leader()) epoch = pages_.out().announce();
    same.sync();  // each member releases the announcement by its looks
    void* block = nullptr;
    for (std::uint32_t base = 0; base < pages; base += size) {
      // Another group may have come to the end of its search.
      in_vain = same.any(same.is_leader() && pages_.out().is_out(units));
      if (in_vain) return block;
      const std::uint32_t mine = base + rank;
      const bool useful = mine < pages && is_useful(mine, units);
      for (simt::lane_mask found = same.ballot(useful); !found.empty();
           found = found.without(found.lowest())) {
        const std::uint32_t page = same.shuffle(mine, found.lowest());
        const simt::lane_mask left = same.ballot(block == nullptr);
        if (left.empty()) return block;
        if (block == nullptr) block = take_in<true>(simt::group(left), page, units);
      }
      if (same.ballot(block == nullptr).empty()) return block;
    }
    in_vain = same.any(same.is_leader() && pages_.out().confirm(epoch, units));
    return block;
  }

  WARPHEAP_DEVICE bool is_useful(std::uint32_t page, std::uint32_t units) const {
    const page_state seen = pages_.table().examine(page);
    return seen.is_unused() ? pages_.is_free(page) : table::has_room(seen, units);
  }

  const page_supply<Config>& pages_;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
