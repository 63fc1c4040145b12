// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/kernel.hpp"
#include "bench/lanes/metered_heap.hpp"
#include "bench/workloads/group_by/shared_chains.hpp"
#include "bench/workloads/group_by/short_groups.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/sync/group_sum.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::group_by {

struct prepare_tails {
  bench::tail_preparing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.of.count) in.of.tails[i] = chain_tail::of(0, capacity_of(in.of)).word;
  }
};

struct distribute_rows {
  bench::row_distribution in;

  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t begin = simt::ticks();
    const metered_heap<Handle> pages{heap, in.time};
    if (in.keys != nullptr) {
      for (std::uint64_t i = simt::thread_rank(); i < in.rows; i += simt::grid_size()) {
        place(pages, 0, {in.keys[i], in.values[i]});
      }
    } else {
      // A warp a page. Warps are whole: grids of more than a warp have blocks of whole warps.
      const std::uint64_t warps = simt::grid_size() / simt::warp_size;
      for (std::uint64_t i = simt::thread_rank() / simt::warp_size; i < in.from_pages; i += warps) {
        const bench::page_entry& entry = in.from.pages[i];
        const std::uint32_t parent = in.numbers[entry.chain];
        if (parent == bench::chain_fates::none) continue;
        const std::uint32_t rows = rows_in(in.from, entry.page, entry.chain);
        for (auto k = static_cast<std::uint32_t>(simt::lane_id()); k < rows; k += simt::warp_size) {
          place(pages, parent, reinterpret_cast<row_page*>(entry.page)->rows()[k]);
        }
      }
    }
    add_whole_time(in.time, begin);
  }

 private:
  template <class Heap>
  WARPHEAP_DEVICE void place(const Heap& heap, std::uint64_t parent,
                             const bench::keyed_row& row) const {
    const std::uint64_t child = parent << 8 | (row.key >> in.shift & 0xff);
    if (append(heap, in.into, child, row)) return;
    // Relaxed: the host reads it after the launch.
    const std::uint64_t at =
        simt::atomic_ref(*in.lost.count).fetch_add(std::uint64_t{1}, simt::order::relaxed);
    in.lost.keys[at] = row.key;
    in.lost.values[at] = row.value;
  }
};

struct size_chains {
  bench::chain_sizing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.pages) return;
    const bench::page_entry& entry = in.of.pages[i];
    // Relaxed: read by the next launch.
    simt::atomic_ref(in.sizes[entry.chain])
        .fetch_add(rows_in(in.of, entry.page, entry.chain), simt::order::relaxed);
  }
};

struct sort_chains {
  bench::chain_sorting in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t chain = simt::thread_rank();
    if (chain >= in.of.count) return;
    std::uint32_t number = bench::chain_fates::none;
    const std::uint32_t rows = in.sizes[chain];
    // Relaxed: read after the launch.
    if (rows != 0 && in.last_pass) {
      number = simt::atomic_ref(*in.done.count).fetch_add(1u, simt::order::relaxed);
      auto* const page = reinterpret_cast<row_page*>(chain_tail{in.of.tails[chain]}.page());
      in.done.groups[number] = {page->rows()[0].key, 0, 0, 0, 0, 0};
    } else if (rows > in.most_short_rows) {
      number = simt::atomic_ref(*in.fates.going_on).fetch_add(1u, simt::order::relaxed);
    } else if (rows != 0) {
      const std::uint32_t place =
          simt::atomic_ref(*in.fates.short_count).fetch_add(1u, simt::order::relaxed);
      in.fates.short_chains[place] = static_cast<std::uint32_t>(chain);
    }
    in.fates.numbers[chain] = number;
  }
};

struct group_short_chains {
  bench::short_grouping in;
  WARPHEAP_DEVICE void operator()() const {
    const simt::group together = simt::warp();
    const shared_groups groups;
    groups.clear(together);
    const std::uint64_t chain = in.short_chains[simt::block_rank()];
    std::uint64_t page = chain_tail{in.of.tails[chain]}.page();
    while (page != 0) {
      auto* const at = reinterpret_cast<row_page*>(page);
      const std::uint32_t rows = rows_in(in.of, page, chain);
      for (auto k = static_cast<std::uint32_t>(simt::lane_id()); k < rows; k += simt::warp_size) {
        groups.add(at->rows()[k]);
      }
      page = at->before;
    }
    groups.emit(together, in.done);
  }
};

struct group_pages {
  bench::page_grouping in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank() / simt::warp_size;
    if (i >= in.pages) return;
    const bench::page_entry& entry = in.of.pages[i];
    const std::uint32_t rows = rows_in(in.of, entry.page, entry.chain);
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    std::uint32_t min_complement = 0;
    std::uint32_t max = 0;
    for (auto k = static_cast<std::uint32_t>(simt::lane_id()); k < rows; k += simt::warp_size) {
      const std::uint32_t value = reinterpret_cast<row_page*>(entry.page)->rows()[k].value;
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
    add_to<simt::atomic_ref>(in.done.groups[in.numbers[entry.chain]], count, sum, min_complement,
                             max);
  }
};

struct free_pages {
  bench::page_freeing in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.count) heap.free(reinterpret_cast<void*>(in.pages[i].page));
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

using kernels =
    type_list<prepare_tails, distribute_rows, size_chains, sort_chains, group_short_chains,
              group_pages, free_pages, mark_runs, group_runs, digest_groups>;

}  // namespace lanes::group_by
WARPHEAP_END_NAMESPACE
