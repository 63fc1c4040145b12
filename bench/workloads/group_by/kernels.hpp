// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/kernel.hpp"
#include "bench/lanes/metered_heap.hpp"
#include "bench/workloads/group_by/page_split.hpp"
#include "bench/workloads/group_by/short_groups.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/sync/group_sum.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::group_by {

struct distribute_rows {
  bench::row_distribution in;

  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    using split_of_block = page_split<bench::row_distribution::children>;
    static_assert(split_of_block::shared_bytes(bench::row_segment::most_pages) ==
                  bench::row_distribution::shared_bytes);
    const std::uint64_t begin = simt::ticks();
    const metered_heap<Handle> pages{heap, in.time};
    const bench::row_segment mine = segment();
    const split_of_block split(in.into, mine.parent, in.shift);
    split.run(
        pages, [&](const auto& visit) { for_each_row(mine, visit); },
        [&](const bench::keyed_row& row) { lose(row); });
    add_whole_time(in.time, begin);
  }

 private:
  /// Rows that a lane loads at the same time: one after the other would be one trip to memory each.
  static constexpr std::uint32_t at_once = 4;

  /// Where the segment has a row, if `slot < rows`.
  struct place {
    const std::uint32_t* key;
    const std::uint32_t* value;
    std::uint32_t slot;
    std::uint32_t rows;
  };

  /// The calling block's. Columns count as pages that lie one behind the other.
  WARPHEAP_DEVICE bench::row_segment segment() const {
    constexpr std::uint32_t most = bench::row_segment::most_pages;
    const std::uint32_t block = simt::block_rank();
    if (in.keys != nullptr) return {std::uint64_t{block} * most, most, 0};
    return in.segments[block];
  }

  /// Calls `visit` for the calling lane's rows of a segment.
  template <class Visit>
  WARPHEAP_DEVICE void for_each_row(const bench::row_segment& mine, const Visit& visit) const {
    const std::uint32_t step = simt::block_size();
    const std::uint32_t places = mine.pages * rows_in_page(in.into.page_bytes);
    for (std::uint32_t i = simt::thread_in_block(); i < places; i += at_once * step) {
      // All loads of a kind start before the first one is needed: no branch is around them, and
      // places behind the last one are it again.
      place at[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) {
        const std::uint32_t number = i + k * step;
        at[k] = place_of(mine.first_page, number < places ? number : places - 1);
      }
      bench::keyed_row rows[at_once];
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
    const bench::row_page page = in.pages[first_page + number / capacity];
    const std::uint32_t k = number % capacity;
    const auto* const row = reinterpret_cast<const bench::keyed_row*>(page.page) + k;
    return {&row->key, &row->value, k, page.rows};
  }

  WARPHEAP_DEVICE void lose(const bench::keyed_row& row) const {
    // Relaxed: the host reads it after the launch.
    const std::uint64_t at =
        simt::atomic_ref(*in.lost.count).fetch_add(std::uint64_t{1}, simt::order::relaxed);
    in.lost.keys[at] = row.key;
    in.lost.values[at] = row.value;
  }
};

struct list_pages {
  bench::page_listing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.taken_count) return;
    const bench::taken_page& taken = in.taken[i];
    if (taken.page.page == 0) return;
    in.into.pages[in.into.starts[taken.page.chain] + taken.place] = taken.page;
  }
};

struct sort_chains {
  bench::chain_sorting in;
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
    constexpr std::uint64_t most = bench::row_segment::most_pages;
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

struct group_short_chains {
  bench::short_grouping in;
  WARPHEAP_DEVICE void operator()() const {
    const simt::group together = simt::warp();
    const shared_groups groups;
    groups.clear(together);
    const std::uint32_t chain = in.short_chains[simt::block_rank()];
    for (std::uint64_t i = in.of.starts[chain]; i < in.of.starts[chain + 1]; ++i) {
      const bench::row_page& page = in.of.pages[i];
      const auto* const rows = reinterpret_cast<const bench::keyed_row*>(page.page);
      for (auto k = static_cast<std::uint32_t>(simt::lane_id()); k < page.rows;
           k += simt::warp_size) {
        groups.add(rows[k]);
      }
    }
    groups.emit(together, in.done);
  }
};

struct name_groups {
  bench::group_naming in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t chain = simt::thread_rank();
    if (chain >= in.of.count || in.of.row_counts[chain] == 0) return;
    // Relaxed: read after the launch.
    const std::uint32_t number =
        simt::atomic_ref(*in.done.count).fetch_add(1u, simt::order::relaxed);
    const bench::row_page& first = in.of.pages[in.of.starts[chain]];
    const std::uint32_t key = reinterpret_cast<const bench::keyed_row*>(first.page)->key;
    in.done.groups[number] = {key, 0, 0, 0, 0, 0};
    in.numbers[chain] = number;
  }
};

struct group_pages {
  bench::page_grouping in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank() / simt::warp_size;
    if (i >= in.count) return;
    const bench::row_page& page = in.pages[i];
    const auto* const rows = reinterpret_cast<const bench::keyed_row*>(page.page);
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    std::uint32_t min_complement = 0;
    std::uint32_t max = 0;
    for (auto k = static_cast<std::uint32_t>(simt::lane_id()); k < page.rows;
         k += simt::warp_size) {
      const std::uint32_t value = rows[k].value;
      ++count;
      sum += value;
      if (min_complement < ~value) min_complement = ~value;
      if (max < value) max = value;
    }
    const simt::group together = simt::warp();
    for (int step = simt::warp_size / 2; step > 0; step /= 2) {
      const int other = simt::lane_id() ^ step;
      count += together.shuffle(count, other);
      sum += together.shuffle(sum, other);
      const std::uint32_t their_min = together.shuffle(min_complement, other);
      const std::uint32_t their_max = together.shuffle(max, other);
      if (min_complement < their_min) min_complement = their_min;
      if (max < their_max) max = their_max;
    }
    if (!together.is_leader()) return;
    add_to<simt::atomic_ref>(in.done.groups[in.numbers[page.chain]], count, sum, min_complement,
                             max);
  }
};

struct free_pages {
  bench::page_freeing in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.count || in.taken[i].page.page == 0) return;
    heap.free(reinterpret_cast<void*>(in.taken[i].page.page));
  }
};

struct mark_runs {
  bench::run_marking in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.rows) in.marks[i] = i == 0 || in.keys[i] != in.keys[i - 1] ? 1 : 0;
  }
};

struct group_runs {
  bench::run_grouping in;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t i = simt::thread_rank() * bench::run_grouping::rows_a_lane;
    std::uint64_t end = i + bench::run_grouping::rows_a_lane;
    if (end > in.rows) end = in.rows;
    while (i < end) {
      const std::uint32_t key = in.keys[i];
      // Marks before a row count its own run unless it is the first of it.
      const bool first = i == 0 || in.keys[i - 1] != key;
      bench::row_group& group = in.groups[in.runs[i] - (first ? 0 : 1)];
      if (first) group.key = key;
      std::uint64_t count = 0;
      std::uint64_t sum = 0;
      std::uint32_t min_complement = 0;
      std::uint32_t max = 0;
      for (; i < end && in.keys[i] == key; ++i) {
        const std::uint32_t value = in.values[i];
        ++count;
        sum += value;
        if (min_complement < ~value) min_complement = ~value;
        if (max < value) max = value;
      }
      add_to<simt::atomic_ref>(group, count, sum, min_complement, max);
    }
  }
};

struct digest_groups {
  bench::group_digest in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    const bool mine = i < in.count;
    const bench::row_group group = mine ? in.groups[i] : bench::row_group{};
    const std::uint64_t hash = mix64(mix64(mix64(group.sum) + group.count) + group.key) +
                               mix64(std::uint64_t{group.min_complement} << 32 | group.max);
    const simt::group together = simt::warp();
    const auto sum = sync::sum_over(together, mine ? mix64(hash) : 0);
    // Relaxed: the host reads it after the launch.
    if (together.is_leader()) simt::atomic_ref(*in.sum).fetch_add(sum.total, simt::order::relaxed);
  }
};

using kernels = type_list<distribute_rows, list_pages, sort_chains, group_short_chains, name_groups,
                          group_pages, free_pages, mark_runs, group_runs, digest_groups>;

}  // namespace lanes::group_by
WARPHEAP_END_NAMESPACE
