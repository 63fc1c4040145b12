// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/inspection.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/page_supply.hpp"
#include "warpheap/managers/scatter_alloc/page_table.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

/// Counts blocks and checks the invariants of scatter_alloc.hpp while no lane allocates.
template <scatter_config Config>
class inspector {
 public:
  WARPHEAP_DEVICE inspector(const page_supply<Config>& pages, inspection& findings)
      : pages_(pages), findings_(findings) {}

  WARPHEAP_DEVICE void run(std::uint64_t rank, std::uint64_t count) const {
    pages_.free_pages().check(rank, count,
                              [&](std::uint64_t word) { findings_.expect(false, 1, word); });
    for (std::uint64_t i = rank; i < pages_.table().pages(); i += count) {
      page(static_cast<std::uint32_t>(i));
    }
    for (std::uint64_t i = rank; i < pages_.blocks().count(); i += count) {
      super_block(static_cast<std::uint32_t>(i));
    }
    for (std::uint64_t i = rank; i < pages_.blocks().regions(); i += count) {
      findings_.expect(
          pages_.blocks().level(static_cast<std::uint32_t>(i)) <= Config.rejecting_level, 6, i);
    }
    if (rank == 0) {
      findings_.expect(pages_.blocks().active_block() < pages_.blocks().count(), 6, 0);
    }
  }

 private:
  using sizes = geometry<Config>;

  WARPHEAP_DEVICE void page(std::uint32_t number) const {
    const page_state state = pages_.table().look(number);
    if (state.is_run()) {
      findings_.in_use(1, std::uint64_t{state.pages()} * sizes::page_bytes);
    } else if (state.has_chunks()) {
      findings_.in_use(state.count(),
                       std::uint64_t{state.count()} * state.units() * sizes::unit_bytes);
      chunks(number, state);
    }
  }

  WARPHEAP_DEVICE void chunks(std::uint32_t number, page_state state) const {
    const std::uint32_t units = state.units();
    if (units > sizes::chunk_sizes) {
      findings_.expect(false, 3, number);
      return;
    }
    const std::uint32_t count = state.count();
    std::uint32_t set = 0;
    bool sound = count != 0 && count <= sizes::capacity(units);
    const std::uint32_t hints = sizes::has_two_levels(units) ? pages_.table().flat_mask(number) : 0;
    for (std::uint32_t s = 0; s < sizes::segments(units); ++s) {
      const std::uint32_t mask = sizes::has_two_levels(units)
                                     ? pages_.table().segment_mask(number, units, s)
                                     : pages_.table().flat_mask(number);
      const std::uint32_t valid = sizes::chunk_bits(units, s);
      sound = sound && (mask & ~valid) == 0;
      set += static_cast<std::uint32_t>(popcount(mask));
      findings_.expect((hints >> s & 1) == 0 || mask == valid, 4, number);
    }
    findings_.expect(sound && set == count, 3, number);
  }

  /// Walks the pages of a Super Block.
  WARPHEAP_DEVICE void super_block(std::uint32_t block) const {
    const std::uint32_t first = pages_.blocks().first_page(block);
    const std::uint32_t end = pages_.blocks().end_page(block);
    std::uint32_t used = 0;
    std::uint32_t of_runs = 0;
    std::uint32_t at = first;
    // A run of an earlier one may reach into this one.
    std::uint32_t inside = first == 0 ? 0 : end_of_run_before(first);
    while (at < end) {
      const page_state state = pages_.table().look(at);
      const bool is_free = pages_.free_pages().contains(at);
      std::uint32_t pages = 1;
      if (at < inside) {
        pages = (inside < end ? inside : end) - at;
        for (std::uint32_t i = at; i < at + pages; ++i) {
          findings_.expect(pages_.table().look(i).is_unused() && !pages_.free_pages().contains(i),
                           2, i);
        }
        used += pages;
        of_runs += pages;
      } else if (state.is_run()) {
        const std::uint32_t left = pages_.table().pages() - at;
        findings_.expect(!is_free && state.pages() != 0 && state.pages() <= left, 2, at);
        ++used;
        of_runs += state.pages() > 1 ? 1 : 0;
        inside = at + (state.pages() < left ? state.pages() : left);
      } else {
        findings_.expect(is_free == state.is_unused(), 2, at);
        used += is_free ? 0 : 1;
      }
      at += pages;
    }
    findings_.expect(used == pages_.blocks().used_pages_of(block) &&
                         of_runs == pages_.blocks().run_pages_of(block),
                     5, block);
  }

  /// One past the last page of the last run that begins before `page`.
  WARPHEAP_DEVICE std::uint32_t end_of_run_before(std::uint32_t page) const {
    while (page-- > 0) {
      const page_state state = pages_.table().look(page);
      if (state.is_run()) return page + state.pages();
      if (state.has_chunks() || pages_.free_pages().contains(page)) return 0;
    }
    return 0;
  }

  const page_supply<Config>& pages_;
  inspection& findings_;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
