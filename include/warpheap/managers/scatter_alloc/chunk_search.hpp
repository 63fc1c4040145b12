// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How a request finds its chunk: by probing from the hashed page on, region by region; then
/// in any free page; then by a search of all pages (full_search.hpp).

#include "warpheap/core/align.hpp"
#include "warpheap/managers/scatter_alloc/full_search.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/page_supply.hpp"
#include "warpheap/managers/scatter_alloc/page_table.hpp"
#include "warpheap/managers/scatter_alloc/page_teams.hpp"
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
    if (block == nullptr) block = full_search<Config>(pages_).take(units);
    return block;
  }

 private:
  using table = page_table<Config>;

  /// Linear probing in the Super Block of `start`.
  WARPHEAP_DEVICE void* probe(std::uint32_t start, std::uint32_t units) const {
    const auto& blocks = pages_.blocks();
    const std::uint32_t block = blocks.block_of(start);
    const std::uint32_t first = blocks.first_page(block);
    const std::uint32_t end = blocks.end_page(block);
    const std::uint32_t regions = align_up(end - first, Config.region_pages) / Config.region_pages;
    const std::uint32_t probes = regions < Config.probed_regions ? regions : Config.probed_regions;
    std::uint32_t page = start;
    for (std::uint32_t i = 0; i < probes; ++i) {
      const std::uint32_t region = page / Config.region_pages;
      const std::uint32_t level = blocks.level(region);
      if (!blocks.rejects(level)) {
        // Wraps around within the region.
        for (std::uint32_t j = 0; j < Config.region_pages; ++j) {
          const std::uint32_t at = region * Config.region_pages + (page + j) % Config.region_pages;
          if (at >= end || !seems_useful(at, units)) continue;
          const std::uint64_t meeting = std::uint64_t{at} << 32 | units;
          void* const found =
              teams().take(simt::coalesced(&pages_.searches()).match(meeting), at, units);
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

  /// A free page anywhere, for lanes that want the same size. Each round serves some of them.
  WARPHEAP_DEVICE void* settle(std::uint32_t start, std::uint32_t units) const {
    for (;;) {
      const simt::group same = simt::coalesced(&pages_.searches()).match(units);
      std::uint32_t page = page_supply<Config>::none;
      std::uint32_t opened = 0;
      if (same.is_leader()) {
        page = pages_.open_any(start, units, static_cast<std::uint32_t>(same.size()), opened);
      }
      same.sync();  // what the leader has acquired is the members' as well
      page = same.broadcast(page);
      opened = same.broadcast(opened);
      if (page == page_supply<Config>::none) return nullptr;
      void* const block = teams().first(page, units, same.rank(), opened);
      if (block != nullptr) return block;
    }
  }

  WARPHEAP_DEVICE page_teams<Config> teams() const { return page_teams<Config>(pages_); }

  const page_supply<Config>& pages_;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
