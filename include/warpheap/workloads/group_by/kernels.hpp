// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The kernels of the group-by, each a functor with its request. A pass launches them in this
/// order: `distribute_rows` over a heap; prefix sums of `page_counts`, which the caller computes;
/// `list_pages`, and `free_pages` over the heap for the pages of the previous pass; then
/// `sort_chains` and `group_short_chains`. After the last pass, `name_groups` and `group_pages`
/// replace the last two.

#include "warpheap/containers/block_heap.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/sync/group_sum.hpp"
#include "warpheap/workloads/group_by/page_split.hpp"
#include "warpheap/workloads/group_by/short_groups.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace group_by {

/// As many blocks of `threads_per_block` lanes and `shared_bytes` bytes as segments.
struct distribute_rows {
  group_by_data::row_distribution in;

  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void operator()(const Heap& heap) const {
    using split_of_block = page_split<group_by_data::row_distribution::children>;
    static_assert(split_of_block::shared_bytes(group_by_data::row_segment::most_pages) ==
                  group_by_data::row_distribution::shared_bytes);
    const group_by_data::row_segment mine = segment();
    const split_of_block split(in.into, mine.parent, in.shift);
    split.run(
        heap, [&](const auto& visit) { for_each_row(mine, visit); },
        [&](const group_by_data::keyed_row& row) { lose(row); });
  }

 private:
  /// Rows that a lane loads at the same time; otherwise, each would cost a trip to memory.
  static constexpr std::uint32_t at_once = 4;

  /// The place of a row in the segment, if `slot < rows`.
  struct place {
    const std::uint32_t* key;
    const std::uint32_t* value;
    std::uint32_t slot;
    std::uint32_t rows;
  };

  /// The calling block's segment. Columns count as consecutive pages.
  WARPHEAP_DEVICE group_by_data::row_segment segment() const {
    constexpr std::uint32_t most = group_by_data::row_segment::most_pages;
    const std::uint32_t block = simt::block_rank();
    if (in.keys != nullptr) return {std::uint64_t{block} * most, most, 0};
    return in.segments[block];
  }

  /// Calls `visit` for the calling lane's rows of a segment.
  template <class Visit>
  WARPHEAP_DEVICE void for_each_row(const group_by_data::row_segment& mine,
                                    const Visit& visit) const {
    const std::uint32_t step = simt::block_size();
    const std::uint32_t places = mine.pages * rows_in_page(in.into.page_bytes);
    for (std::uint32_t i = simt::thread_in_block(); i < places; i += at_once * step) {
      // All loads of a kind start before the first one is needed: there is no branch around them,
      // and places after the last one repeat it.
      place at[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) {
        const std::uint32_t number = i + k * step;
        at[k] = place_of(mine.first_page, number < places ? number : places - 1);
      }
      group_by_data::keyed_row rows[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) rows[k] = {*at[k].key, *at[k].value};
      for (std::uint32_t k = 0; k < at_once; ++k) {
        if (i + k * step < places && at[k].slot < at[k].rows) visit(rows[k]);
      }
    }
  }

  WARPHEAP_DEVICE place place_of(std::uint64_t first_page, std::uint32_t number) const {
    const std::uint32_t capacity = rows_in_page(in.into.page_bytes);
    if (in.keys != nullptr) {
      const std::uint64_t wanted = first_page * capacity + number;
      const std::uint64_t i = wanted < in.rows ? wanted : in.rows - 1;
      return {in.keys + i, in.values + i, 0, i == wanted ? 1u : 0u};
    }
    const group_by_data::row_page page = in.pages[first_page + number / capacity];
    const std::uint32_t k = number % capacity;
    const auto* const row = reinterpret_cast<const group_by_data::keyed_row*>(page.page) + k;
    return {&row->key, &row->value, k, page.rows};
  }

  WARPHEAP_DEVICE void lose(const group_by_data::keyed_row& row) const {
    // Relaxed: the host reads it after the launch.
    const std::uint64_t at =
        simt::atomic_ref(*in.lost.count).fetch_add(std::uint64_t{1}, simt::order::relaxed);
    in.lost.keys[at] = row.key;
    in.lost.values[at] = row.value;
  }
};

/// As many lanes as pages were taken.
struct list_pages {
  group_by_data::page_listing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.taken_count) return;
    const group_by_data::taken_page& taken = in.taken[i];
    if (taken.page.page == 0) return;
    in.into.pages[in.into.starts[taken.page.chain] + taken.place] = taken.page;
  }
};

/// As many lanes as chains.
struct sort_chains {
  group_by_data::chain_sorting in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t chain = simt::thread_rank();
    if (chain >= in.of.count || in.of.row_counts[chain] == 0) return;
    // Relaxed: read after the launch.
    if (in.of.row_counts[chain] <= in.most_short_rows) {
      const std::uint32_t place =
          simt::atomic_ref(in.found->short_chains).fetch_add(1u, simt::order::relaxed);
      in.short_chains[place] = static_cast<std::uint32_t>(chain);
      return;
    }
    const std::uint32_t number =
        simt::atomic_ref(in.found->parents).fetch_add(1u, simt::order::relaxed);
    constexpr std::uint64_t most = group_by_data::row_segment::most_pages;
    const std::uint64_t end = in.of.starts[chain + 1];
    std::uint64_t first = in.of.starts[chain];
    std::uint64_t place = simt::atomic_ref(in.found->segments)
                              .fetch_add(ceil_div(end - first, most), simt::order::relaxed);
    for (; first < end; first += most) {
      const std::uint64_t pages = end - first < most ? end - first : most;
      in.segments[place++] = {first, static_cast<std::uint32_t>(pages), number};
    }
  }
};

/// As many blocks of one warp and `shared_bytes` bytes as short chains.
struct group_short_chains {
  group_by_data::short_grouping in;
  WARPHEAP_DEVICE void operator()() const {
    const simt::group together = simt::warp();
    const shared_groups groups;
    groups.clear(together);
    const std::uint32_t chain = in.short_chains[simt::block_rank()];
    for (std::uint64_t i = in.of.starts[chain]; i < in.of.starts[chain + 1]; ++i) {
      const group_by_data::row_page& page = in.of.pages[i];
      const auto* const rows = reinterpret_cast<const group_by_data::keyed_row*>(page.page);
      for (auto k = static_cast<std::uint32_t>(simt::lane_id()); k < page.rows;
           k += simt::warp_size) {
        groups.add(rows[k]);
      }
    }
    groups.emit(together, in.done);
  }
};

/// As many lanes as chains.
struct name_groups {
  group_by_data::group_naming in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t chain = simt::thread_rank();
    if (chain >= in.of.count || in.of.row_counts[chain] == 0) return;
    // Relaxed: read after the launch.
    const std::uint32_t number =
        simt::atomic_ref(*in.done.count).fetch_add(1u, simt::order::relaxed);
    const group_by_data::row_page& first = in.of.pages[in.of.starts[chain]];
    const std::uint32_t key = reinterpret_cast<const group_by_data::keyed_row*>(first.page)->key;
    in.done.groups[number] = {key, 0, 0, 0, 0, 0};
    in.numbers[chain] = number;
  }
};

/// As many warps as pages.
struct group_pages {
  group_by_data::page_grouping in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank() / simt::warp_size;
    if (i >= in.count) return;
    const group_by_data::row_page& page = in.pages[i];
    const auto* const rows = reinterpret_cast<const group_by_data::keyed_row*>(page.page);
    std::uint64_t sum = 0;
    std::uint32_t min = ~std::uint32_t{0};
    std::uint32_t max = 0;
    for (auto k = static_cast<std::uint32_t>(simt::lane_id()); k < page.rows;
         k += simt::warp_size) {
      const std::uint32_t value = rows[k].value;
      sum += value;
      if (min > value) min = value;
      if (max < value) max = value;
    }
    const simt::group together = simt::warp();
    const std::uint64_t total = sync::sum_over(together, sum).total;
    const std::uint32_t least = together.least(min);
    const std::uint32_t least_complement = together.least(~max);
    if (!together.is_leader()) return;
    add_to<simt::atomic_ref>(in.done.groups[in.numbers[page.chain]], page.rows, total, ~least,
                             ~least_complement);
  }
};

/// As many lanes as pages were taken.
struct free_pages {
  group_by_data::page_freeing in;
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void operator()(const Heap& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.count || in.taken[i].page.page == 0) return;
    heap.free(reinterpret_cast<void*>(in.taken[i].page.page));
  }
};

}  // namespace group_by
WARPHEAP_END_NAMESPACE
