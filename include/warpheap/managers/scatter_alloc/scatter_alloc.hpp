// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// M. Steinberger, M. Kenzel, B. Kainz, D. Schmalstieg: "ScatterAlloc: Massively Parallel Dynamic
/// Memory Allocation for the GPU", InPar 2012, DOI 10.1109/InPar.2012.6339604.
///
/// Algorithm:
/// - The heap is cut into pages, 16 pages are a region, and up to eight Super Blocks share them.
/// - Up to half a page: a hash of size, multiprocessor and warp selects a page of the active Super
///   Block. A free page becomes a page of chunks of that size; one with chunks of one to two times
///   the size serves from those; otherwise, probing continues with the next page, region by region.
///   Regions that failed often are skipped.
/// - A page has a 32-bit mask, or, for small chunks, masks of segments of 32 chunks at its end.
/// - Up to a page: a free page, from the hashed one on. More: a run of free pages in a Super Block
///   that is reserved for runs, from a hashed place on.
/// - free finds the size in the page usage table. A page without chunks in use is free again.
/// - A Super Block that is filled to 87 % hands over to the next one.
///
/// Memory layout (defaults; p pages, s Super Blocks, page usage table: states and masks):
///
///     [ active ][ used and run pages: u64 x s ][ levels: u32 x p / 16 ]        super_blocks.hpp
///     [ sizes that are out: u64 x (1 + 129) ]                               size_exhaustion.hpp
///     [ search that lanes share ][ sizes seen: 129 bits | pages: u32 x 129 ]       room_seen.hpp
///     [ free pages: bitmap tree over p ]
///     [ states: u64 {use:32 | count:32} x p ][ masks: u32 x p ]                  page_table.hpp
///     [ page 0 | page 1 | ... ]                          4096 bytes each, geometry.hpp
///
/// Invariants, while no lane allocates:
/// I1 the words of the tree of free pages fit (place: the word)
/// I2 a page is free and unused, or of chunks, or the first of a run, or inside exactly one run,
///    which ends inside the heap (place: the page)
/// I3 a page of chunks has one to all of its chunks in use, and as many bits set, all of them of
///    chunks (place: the page)
/// I4 a segment with a hint that it is full is full (place: the page)
/// I5 a Super Block counts its used pages and its pages of runs right (place: the Super Block)
/// I6 no region's level is beyond the one that rejects it, and there is an active Super Block
///    (place: the region)
///
/// Progress: lock-free; a lane waits for others only in collectives of its converged group. Each
/// loop repeats only if another lane has changed the word: reservations are bounded, so each of
/// them finds a bit (page_table.hpp), and a claim of pages that fails has lost them to another lane
/// (bitmap_tree.hpp, bitmap_runs.hpp). Probing visits each page once. A request that still has
/// nothing takes part in at most four rounds of a search of all pages, which all such requests
/// share (sync/shared_search.hpp): its cost does not depend on how many fail.
///
/// Steady load: where few pages have room, most requests probe up to 256 regions in vain, and then
/// take part in searches of all pages. In the survey's case, launches took up to 372 ms with 64 B,
/// where half of the requests got null, and up to 828 ms with powers of two from 16 to 4096 B,
/// where one in six did. A page serves chunks of one to two times its least size only, and of that
/// heap a quarter was not in use at the end.
///
/// Null: a look at all pages saw neither a free page nor a page with a suitable chunk, or others
/// took or freed something suitable in each of four such rounds; no run of that length was seen.
/// Not exact: a page that another lane is about to turn into a page of chunks, or to put back after
/// a failed claim of a run, is hidden for that moment.
///
/// Deviations from the paper, and why:
/// - Lanes that meet at a page with the same size reserve and take their chunks together, by one
///   atomic each. Reservations are bounded by a compare-exchange, where an addition that may have
///   to be undone makes others believe that a page is full, or keeps it from being freed.
/// - Use and count of a page share a word, so a page can change its size at any time. (The later
///   public code keeps a page's size for good by default.)
/// - A bitmap tree holds the free pages. Runs are claimed 64 pages at a time; a request whose
///   probing of 256 regions was in vain, which is quadratic for many threads, settles on a free
///   page.
/// - Where that fails, all lanes that have nothing share a search of all pages, and a word for each
///   size says that it was in vain, so that an exhausted heap answers at once.
/// - Super Blocks share the heap's one region, all of them are there from the start, and none is
///   added. A run may span several; where either kind of page has no room left in its own, it takes
///   the other's.
/// - Lanes of a warp start as many pages apart as their requests need.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/scatter_alloc/chunk_search.hpp"
#include "warpheap/managers/scatter_alloc/full_search.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/inspection.hpp"
#include "warpheap/managers/scatter_alloc/page_supply.hpp"
#include "warpheap/managers/scatter_alloc/publication.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE

template <scatter_config Config = scatter_config{}>
class scatter_alloc {
 public:
  using options = no_options;
  using sizes = scatter_parts::geometry<Config>;
  using page_supply = scatter_parts::page_supply<Config>;

  static constexpr capabilities about{
      .name = "scatter_alloc",
      .description = "hashed pages of chunks of one size, and runs of pages, in Super Blocks",
      .folder = "scatter_alloc",
      .published = scatter_parts::published,
      .deviations = {"Lanes that meet at a page take their chunks together, and reservations are "
                     "never undone.",
                     "A page that is empty is free for every size and for runs.",
                     "A bitmap tree holds the free pages.",
                     "Probing is bounded; it ends with a free page or a search of all pages.",
                     "All Super Blocks are there from the start; runs may span them.",
                     "Lanes of a warp start as many pages apart as their requests need."},
  };

  /// \throws invalid_argument if the heap has 2^31 pages or more
  scatter_alloc(const region& memory, const simt::device_properties& /*machine*/,
                const options& /*none*/) {
    const std::size_t most = memory.bytes / sizes::page_bytes;
    if (most > page_supply::most_pages) {
      throw invalid_argument(
          std::string(about.name) + ": a heap of " + std::to_string(memory.bytes) +
          " bytes; at most " +
          std::to_string(std::size_t{page_supply::most_pages} * sizes::page_bytes) +
          " are possible");
    }
    lay_out_most(memory, about.name, 1u, most < 1 ? 1u : static_cast<std::uint32_t>(most),
                 [this](region_cursor& cursor, std::uint32_t pages) {
                   pages_ = page_supply(cursor, pages);
                 });
  }

  WARPHEAP_HD const page_supply& parts() const { return pages_; }

  /// A run of all pages.
  WARPHEAP_HD std::size_t largest_block() const {
    return std::size_t{pages_.table().pages()} * sizes::page_bytes;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    pages_.format(rank, count);
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    if (bytes <= sizes::largest_chunk) {
      return scatter_parts::chunk_search<Config>(pages_).take(sizes::units_for(bytes));
    }
    const auto pages = static_cast<std::uint32_t>(sizes::pages_for(bytes));
    return pages == 1 ? take_page() : pages_.take_run(pages);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    const std::uint64_t offset = pages_.table().offset_of(block);
    if (offset >= largest_block()) return;  // not of this heap
    const auto page = static_cast<std::uint32_t>(offset / sizes::page_bytes);
    const auto state = pages_.table().look(page);
    if (state.is_run()) {
      pages_.give_run(page, state.pages());
    } else if (state.has_chunks()) {
      const auto within = static_cast<std::uint32_t>(offset % sizes::page_bytes);
      give_chunk(page, state.units(), within / (state.units() * sizes::unit_bytes));
    }
  }

  /// 0 for a pointer outside the heap.
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    const std::uint64_t offset = pages_.table().offset_of(block);
    if (offset >= largest_block()) return 0;
    const auto state = pages_.table().look(static_cast<std::uint32_t>(offset / sizes::page_bytes));
    return state.is_run() ? std::size_t{state.pages()} * sizes::page_bytes
                          : std::size_t{state.units()} * sizes::unit_bytes;
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    scatter_parts::inspector<Config>(pages_, findings).run(rank, count);
  }

 private:
  WARPHEAP_DEVICE void* take_page() const {
    if (pages_.out().is_out(sizes::page_request)) return nullptr;
    void* const page = pages_.take_page();
    return page != nullptr ? page
                           : scatter_parts::full_search<Config>(pages_).take(sizes::page_request);
  }

  WARPHEAP_DEVICE void give_chunk(std::uint32_t page, std::uint32_t units,
                                  std::uint32_t chunk) const {
    const simt::group same = simt::coalesced(&pages_.searches()).match(page);
    pages_.table().put_back(page, units, chunk);
    same.sync();  // what the members did comes before what the leader releases
    if (same.is_leader()) pages_.leave(page, static_cast<std::uint32_t>(same.size()));
  }

  page_supply pages_;
};

WARPHEAP_END_NAMESPACE
