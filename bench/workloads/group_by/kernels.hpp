// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/metered_heap.hpp"
#include "bench/workloads/group_by/requests.hpp"
#include "bench/workloads/tables/digest_kernel.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/workloads/group_by/kernels.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::group_by {

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
    std::uint64_t i = simt::thread_rank() * bench::run_grouping::rows_per_lane;
    std::uint64_t end = i + bench::run_grouping::rows_per_lane;
    if (end > in.rows) end = in.rows;
    while (i < end) {
      const std::uint32_t key = in.keys[i];
      // The marks before a row include that of its own run, unless the row is the first of its run.
      const bool first = i == 0 || in.keys[i - 1] != key;
      group_by_data::row_group& group = in.groups[in.runs[i] - (first ? 0 : 1)];
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
      warpheap::group_by::add_to<simt::atomic_ref>(group, count, sum, min_complement, max);
    }
  }
};

struct hash_of_group {
  WARPHEAP_DEVICE std::uint64_t operator()(const group_by_data::row_group& group) const {
    return mix64(mix64(mix64(mix64(group.sum) + group.count) + group.key) +
                 mix64(std::uint64_t{group.min_complement} << 32 | group.max));
  }
};

using kernels =
    type_list<metered<warpheap::group_by::distribute_rows>, warpheap::group_by::list_pages,
              warpheap::group_by::sort_chains, warpheap::group_by::group_short_chains,
              warpheap::group_by::name_groups, warpheap::group_by::group_pages,
              warpheap::group_by::free_pages, mark_runs, group_runs,
              tables::digest_rows<group_by_data::row_group, hash_of_group>>;

}  // namespace lanes::group_by
WARPHEAP_END_NAMESPACE
