// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Super Blocks and their regions: where requests start to look. All of this is only hints,
/// which are exact while no lane allocates; only the page usage table and the free pages say what
/// is available.
///
/// Chunks and single pages come from the active Super Block. Runs come from the last ones, which
/// are reserved for runs as long as they hold any; requests for chunks enter those after all
/// others. The Super Blocks are a ring, so that what is freed in earlier ones is found again.
///
/// All words are accessed relaxed: nothing is published through them.

#include "warpheap/core/align.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/managers/scatter_alloc/geometry.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <algorithm>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

template <scatter_config Config>
class super_blocks {
 public:
  super_blocks() = default;
  super_blocks(region_cursor& cursor, std::uint32_t pages)
      : pages_(pages),
        blocks_(std::clamp(pages / Config.least_block_pages, 1u, Config.super_blocks)),
        block_pages_(std::max(round_down(pages / blocks_, Config.least_block_pages), 1u)),
        // The words share no cache line, except for those that are read together.
        active_(cursor.take<std::uint32_t>(1, 128)),
        used_(cursor.take<std::uint64_t>(blocks_, 128)),
        levels_(cursor.take<std::uint32_t>(ceil_div(pages, Config.region_pages), 128)) {}

  WARPHEAP_HD std::uint32_t count() const { return blocks_; }
  WARPHEAP_HD std::uint32_t regions() const { return ceil_div(pages_, Config.region_pages); }
  WARPHEAP_HD std::uint32_t first_page(std::uint32_t block) const { return block * block_pages_; }
  /// The last Super Block also has the remaining pages.
  WARPHEAP_HD std::uint32_t end_page(std::uint32_t block) const {
    return block + 1 == blocks_ ? pages_ : (block + 1) * block_pages_;
  }
  WARPHEAP_HD std::uint32_t block_of(std::uint32_t page) const {
    const std::uint32_t block = page / block_pages_;
    return block < blocks_ ? block : blocks_ - 1;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *active_ = 0;
    for (std::uint64_t i = rank; i < blocks_; i += count) used_[i] = 0;
    for (std::uint64_t i = rank; i < regions(); i += count) levels_[i] = 0;
  }

  /// The Super Block in which requests for chunks and pages start to look. Moves on from one that
  /// is filled to the next one that is not, or else to the next one with any free page.
  WARPHEAP_DEVICE std::uint32_t active() const {
    std::uint32_t now = active_word().load(simt::order::relaxed);
    if (!is_filled(now, look(now))) return now;
    const std::uint32_t was = now;
    std::uint32_t with_pages = was;
    for (std::uint32_t i = 1; i < blocks_; ++i) {
      const std::uint32_t next = was + i < blocks_ ? was + i : was + i - blocks_;
      const std::uint64_t seen = look(next);
      if (run_pages(seen) != 0) continue;
      if (!is_filled(next, seen)) {
        active_word().compare_exchange(now, next, simt::order::relaxed);
        return next;
      }
      if (with_pages == was && used_pages(seen) < size(next)) with_pages = next;
    }
    if (with_pages == was || used_pages(look(was)) < size(was)) return was;
    active_word().compare_exchange(now, with_pages, simt::order::relaxed);
    return with_pages;
  }

  /// The Super Block in which a run of `pages` starts to look: the last one that is reserved for
  /// runs, or empty, and has this many pages.
  WARPHEAP_DEVICE std::uint32_t for_run(std::uint64_t pages) const {
    for (std::uint32_t block = blocks_; block-- > 0;) {
      const std::uint64_t seen = look(block);
      if (run_pages(seen) == 0 && used_pages(seen) != 0) continue;
      if (used_pages(seen) + pages <= size(block)) return block;
    }
    return blocks_ - 1;
  }

  /// first..first+pages-1 are in use now, as a run of several pages or not.
  WARPHEAP_DEVICE void take(std::uint32_t first, std::uint32_t pages) const {
    change<true>(first, pages);
  }
  WARPHEAP_DEVICE void give(std::uint32_t first, std::uint32_t pages) const {
    change<false>(first, pages);
    for (std::uint32_t region = first / Config.region_pages;
         region <= (first + pages - 1) / Config.region_pages; ++region) {
      accept(region);
    }
  }

  /// How many searches of a region have failed since something was freed there.
  WARPHEAP_DEVICE std::uint32_t level(std::uint32_t region) const {
    return level_word(region).load(simt::order::relaxed);
  }
  WARPHEAP_DEVICE bool rejects(std::uint32_t level) const {
    return level >= Config.rejecting_level;
  }
  /// A search of the region has failed that began at this level.
  WARPHEAP_DEVICE void reject(std::uint32_t region, std::uint32_t level) const {
    level_word(region).compare_exchange(level, level + 1, simt::order::relaxed);
  }
  /// Something was freed there.
  WARPHEAP_DEVICE void accept(std::uint32_t region) const {
    if (level(region) != 0) level_word(region).store(0, simt::order::relaxed);
  }

  // Only while no lane allocates.

  WARPHEAP_DEVICE std::uint32_t active_block() const { return *active_; }
  WARPHEAP_DEVICE std::uint32_t used_pages_of(std::uint32_t block) const {
    return used_pages(used_[block]);
  }
  WARPHEAP_DEVICE std::uint32_t run_pages_of(std::uint32_t block) const {
    return run_pages(used_[block]);
  }

 private:
  /// Percentage of a Super Block's pages in use from which the next one becomes the active one.
  static constexpr std::uint32_t fill_percent = 87;

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> active_word() const {
    return simt::atomic_ref(*active_);
  }
  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> level_word(std::uint32_t region) const {
    return simt::atomic_ref(levels_[region]);
  }
  /// {pages of runs of several pages:32 | pages in use, those among them:32}
  WARPHEAP_DEVICE std::uint64_t look(std::uint32_t block) const {
    return simt::atomic_ref(used_[block]).load(simt::order::relaxed);
  }
  WARPHEAP_HD static constexpr std::uint32_t used_pages(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
  }
  WARPHEAP_HD static constexpr std::uint32_t run_pages(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }

  WARPHEAP_HD std::uint32_t size(std::uint32_t block) const {
    return end_page(block) - first_page(block);
  }
  WARPHEAP_HD bool is_filled(std::uint32_t block, std::uint64_t word) const {
    return std::uint64_t{used_pages(word)} * 100 >= std::uint64_t{size(block)} * fill_percent;
  }

  /// Lanes that change the count of one Super Block do it together.
  template <bool Take>
  WARPHEAP_DEVICE void change(std::uint32_t first, std::uint32_t pages) const {
    const std::uint64_t kinds = pages > 1 ? (std::uint64_t{1} << 32) + 1 : 1;
    for (std::uint32_t left = pages; left != 0;) {
      const std::uint32_t block = block_of(first);
      const std::uint32_t room = end_page(block) - first;
      const std::uint32_t here = left < room ? left : room;
      const simt::group peers = simt::coalesced(used_).match(block);
      const std::uint64_t all = sync::sum_over(peers, here * kinds).total;
      if (peers.is_leader()) {
        simt::atomic_ref(used_[block]).fetch_add(Take ? all : 0 - all, simt::order::relaxed);
      }
      first += here;
      left -= here;
    }
  }

  std::uint32_t pages_ = 0;
  std::uint32_t blocks_ = 0;
  std::uint32_t block_pages_ = 0;
  std::uint32_t* active_ = nullptr;
  std::uint64_t* used_ = nullptr;
  std::uint32_t* levels_ = nullptr;
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
