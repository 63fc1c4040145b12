// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Pages as a whole: the set of free ones, which become pages of chunks, single pages and
/// runs, and are returned. A free page belongs to the lane that removes it from the set, and the
/// set's memory orders ensure that its next owner comes after the last one.

#include "warpheap/core/hash.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/managers/scatter_alloc/page_table.hpp"
#include "warpheap/managers/scatter_alloc/room_seen.hpp"
#include "warpheap/managers/scatter_alloc/size_exhaustion.hpp"
#include "warpheap/managers/scatter_alloc/super_blocks.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_runs.hpp"
#include "warpheap/sync/bitmap_tree.hpp"
#include "warpheap/sync/shared_search.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

template <scatter_config Config>
class page_supply {
 public:
  using sizes = geometry<Config>;

  static constexpr std::uint32_t most_pages = page_state::run_bit - 1;
  static constexpr std::uint32_t none = bitmap_tree::none;

  /// Requests count the rounds themselves.
  using shared_searches = shared_search<128, room_seen<Config>, 1>;

  page_supply() = default;
  page_supply(region_cursor& cursor, std::uint32_t pages)
      : blocks_(cursor, pages),
        out_(cursor.take<std::uint64_t>(size_exhaustion::words_for(sizes::page_request), 128),
             sizes::page_request),
        searches_(cursor.take<shared_searches>(1, 128)),
        seen_(cursor),
        free_(cursor.take<std::uint64_t>(bitmap_tree::words_for(pages), 128)),
        table_(cursor, pages) {}

  WARPHEAP_HD const page_table<Config>& table() const { return table_; }
  WARPHEAP_HD const super_blocks<Config>& blocks() const { return blocks_; }
  /// The chunk sizes for which there is neither a chunk nor a free page, and whether there is no
  /// free page.
  WARPHEAP_HD const size_exhaustion& out() const { return out_; }
  /// They look at all pages, for requests that found nothing by other means.
  WARPHEAP_DEVICE shared_searches& searches() const { return *searches_; }
  WARPHEAP_DEVICE bitmap_tree free_pages() const { return bitmap_tree(free_, table_.pages()); }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    blocks_.format(rank, count);
    out_.format(rank, count);
    if (rank == 0) searches_->format(out_, seen_);
    free_pages().format(table_.pages(), rank, count);
    table_.format(rank, count);
  }

  /// Where the caller's requests of `bytes` start to look.
  WARPHEAP_DEVICE std::uint32_t start_page(std::uint32_t bytes) const {
    const std::uint32_t block = blocks_.active();
    const std::uint32_t first = blocks_.first_page(block);
    return first + sizes::start_page(bytes, simt::sm_id(), simt::warp_slot(),
                                     static_cast<std::uint32_t>(simt::lane_id()),
                                     blocks_.end_page(block) - first);
  }

  /// Whether a page seems to be free.
  WARPHEAP_DEVICE bool seems_free(std::uint32_t page) const {
    return (free_pages().peek_word(page / 64) >> page % 64 & 1) != 0;
  }
  /// Whether a page is free, as `size_exhaustion` asks of searchers.
  WARPHEAP_DEVICE bool is_free(std::uint32_t page) const {
    return (free_pages().examine_word(page / 64) >> page % 64 & 1) != 0;
  }

  /// Turns a page, if it is free, into a page of chunks, with up to `want` of the first chunks for
  /// the caller. Returns how many.
  WARPHEAP_DEVICE std::uint32_t open(std::uint32_t page, std::uint32_t units,
                                     std::uint32_t want) const {
    return free_pages().remove(page) ? open_removed(page, units, want) : 0;
  }

  /// Like `open`, with a free page from `start` on; none if it sees no free page.
  WARPHEAP_DEVICE std::uint32_t open_any(std::uint32_t start, std::uint32_t units,
                                         std::uint32_t want, std::uint32_t& got) const {
    const auto found = free_pages().template claim_some<false>(1, start / 64);
    if (found.bits == 0) return none;
    got = open_removed(found.nth(0), units, want);
    return found.nth(0);
  }

  /// Gives up the reservations of chunks of a page that were freed.
  WARPHEAP_DEVICE void leave(std::uint32_t page, std::uint32_t chunks) const {
    if (table_.leave(page, chunks)) {
      free_pages().insert(page);
      blocks_.give(page, 1);
    } else {
      blocks_.accept(page / Config.region_pages);
    }
    out_.withdraw();
  }

  /// Takes a page if it is free.
  WARPHEAP_DEVICE void* take_page(std::uint32_t page) const {
    return free_pages().remove(page) ? begin_page(page) : nullptr;
  }

  /// A page for each lane, if one is seen. Lanes that arrive together take theirs together.
  WARPHEAP_DEVICE void* take_page() const {
    for (;;) {
      const simt::group team = simt::coalesced(searches_);
      bitmap_tree::word_elements got;
      if (team.is_leader()) {
        got = free_pages().template claim_some<false>(team.size(),
                                                      start_page(sizes::page_bytes) / 64);
      }
      team.sync();  // what the leader has acquired is the members' as well
      got.word = team.broadcast(got.word);
      got.bits = team.broadcast(got.bits);
      if (got.bits == 0) return nullptr;
      if (team.rank() >= got.count()) continue;  // ends: others have got theirs
      return begin_page(got.nth(team.rank()));
    }
  }

  /// Lanes that arrive together for runs of one length take one run for all, if there is one that
  /// long. \pre `pages > 1`
  WARPHEAP_DEVICE void* take_run(std::uint32_t pages) const {
    if (out_.is_out(sizes::page_request)) return nullptr;
    const simt::group same = simt::coalesced(searches_).match(pages);
    const auto size = static_cast<std::uint32_t>(same.size());
    std::uint32_t first = none;
    if (size > 1 && pages <= most_together / size) {
      if (same.is_leader()) first = claim(pages * size);
      same.sync();  // what the leader has acquired is the members' as well
      first = same.broadcast(first);
    }
    if (first != none) {
      first += pages * static_cast<std::uint32_t>(same.rank());
    } else {
      first = claim(pages);
    }
    if (first == none) return nullptr;
    table_.begin_run(first, pages);
    blocks_.take(first, pages);
    return table_.address(first);
  }

  WARPHEAP_DEVICE void give_run(std::uint32_t first, std::uint32_t pages) const {
    table_.end_run(first);
    insert_run(free_pages(), first, pages);
    blocks_.give(first, pages);
    out_.withdraw();
  }

 private:
  /// The maximum number of pages that lanes take as one run and split: longer runs are rare, and a
  /// lane that needs that much has time for its own search.
  static constexpr std::uint32_t most_together = 1024;

  WARPHEAP_DEVICE void* begin_page(std::uint32_t page) const {
    table_.begin_run(page, 1);
    blocks_.take(page, 1);
    return table_.address(page);
  }

  WARPHEAP_DEVICE std::uint32_t open_removed(std::uint32_t page, std::uint32_t units,
                                             std::uint32_t want) const {
    const std::uint32_t capacity = sizes::capacity(units);
    const std::uint32_t taken = want < capacity ? want : capacity;
    table_.open(page, units, taken);
    blocks_.take(page, 1);
    if (taken != capacity) out_.withdraw();
    return taken;
  }

  /// A run of `pages` from a hashed place of a Super Block for runs on, else from the heap's
  /// beginning on; its first page or none. Places are multiples of the length, so that runs of one
  /// length leave no gaps between them.
  WARPHEAP_DEVICE std::uint32_t claim(std::uint32_t pages) const {
    const std::uint32_t block = blocks_.for_run(pages);
    const std::uint32_t begin = blocks_.first_page(block);
    const std::uint32_t places = (blocks_.end_page(block) - begin) / pages;
    const auto drawn = static_cast<std::uint32_t>(
        mix64(simt::thread_rank() / simt::warp_size + (std::uint64_t{simt::sm_id()} << 32)));
    const std::uint32_t start = begin + (places < 2 ? 0 : scale_to(drawn, places) * pages);
    std::uint32_t first = claim_run_from(free_pages(), pages, start / 64);
    if (first == none && start >= 64) first = claim_run_from(free_pages(), pages, 0);
    // A claim that failed in the meantime has put back pages that it had hidden.
    out_.withdraw();
    return first;
  }

  super_blocks<Config> blocks_;
  size_exhaustion out_;
  shared_searches* searches_ = nullptr;
  typename room_seen<Config>::storage seen_;
  std::uint64_t* free_ = nullptr;
  page_table<Config> table_;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
