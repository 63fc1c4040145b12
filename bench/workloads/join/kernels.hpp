// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/kernel.hpp"
#include "bench/lanes/metered_heap.hpp"
#include "bench/workloads/join/match_pages.hpp"
#include "bench/workloads/join/probe.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/sync/group_sum.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::join {

struct mix_keys {
  bench::key_mixing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.rows) in.mixed[i] = mix_key(in.keys[i]);
  }
};

struct find_partitions {
  bench::partition_search in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t partition = simt::thread_rank();
    if (partition > std::uint64_t{1} << in.partition_bits) return;
    // The first row of this partition or a later one.
    std::uint64_t low = 0;
    std::uint64_t high = in.rows;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (partition_of(in.keys[middle], in.partition_bits) < partition) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    in.offsets[partition] = low;
  }
};

struct count_matches {
  bench::match_counting in;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t count = 0;
    auto sink = [&](const simt::group&, bool found, std::uint64_t, const bench::match&) {
      if (found) ++count;
    };
    join_slices(in.input, sink);
    in.counts[simt::thread_rank()] = count;
  }
};

struct write_matches {
  bench::match_writing in;
  WARPHEAP_DEVICE void operator()() const {
    bench::match* to = in.matches + in.offsets[simt::thread_rank()];
    auto sink = [&](const simt::group&, bool found, std::uint64_t, const bench::match& match) {
      if (found) *to++ = match;
    };
    join_slices(in.input, sink);
  }
};

struct prepare_chains {
  bench::chain_preparing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.into.count) chain_of(in.into, i) = match_chain(in.into.page_bytes);
  }
};

struct page_matches {
  bench::match_paging in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t begin = simt::ticks();
    const metered_heap<Handle> pages{heap, in.time};
    paged_matches sink(pages, chain_of(in.into, warp_rank()), in.lost);
    join_slices(in.input, sink);
    add_whole_time(in.time, begin);
  }
};

struct count_chains {
  bench::chain_counting in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.of.count) in.counts[i] = chain_of(in.of, i).size();
  }
};

struct gather_matches {
  bench::match_gathering in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = warp_rank();
    if (i >= in.from.count) return;
    bench::match* to = in.matches + in.offsets[i];
    for (auto* page = chain_of(in.from, i).first(); page != nullptr; page = page->next) {
      for (std::uint32_t k = static_cast<std::uint32_t>(simt::lane_id()); k < page->used;
           k += simt::warp_size) {
        to[k] = page->elements()[k];
      }
      to += page->used;
    }
  }
};

struct free_chains {
  bench::chain_freeing in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.of.count) chain_of(in.of, i).clear(heap);
  }
};

struct digest_matches {
  bench::match_digest in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    const bool mine = i < in.count;
    const bench::match match = mine ? in.matches[i] : bench::match{};
    const std::uint64_t hash =
        mix64(mix64(std::uint64_t{match.key} << 32 | match.build) + match.probe);
    const simt::group together = simt::warp();
    const auto sum = sync::sum_over(together, mine ? hash : 0);
    // Relaxed: the host reads it after the launch.
    if (together.is_leader()) simt::atomic_ref(*in.sum).fetch_add(sum.total, simt::order::relaxed);
  }
};

using kernels = type_list<mix_keys, find_partitions, count_matches, write_matches, prepare_chains,
                          page_matches, count_chains, gather_matches, free_chains, digest_matches>;

}  // namespace lanes::join
WARPHEAP_END_NAMESPACE
