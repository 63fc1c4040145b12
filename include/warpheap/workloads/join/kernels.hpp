// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The kernels of the hash join, each a functor with its request. A join launches them in this
/// order: for each side, `mix_keys`, a sort by the highest `partition_bits` bits of the mixed keys,
/// which the caller performs, and `find_partitions`; then `prepare_chains`, `page_matches` over a
/// heap, and whatever reads the pages, such as `count_chains` and `gather_matches`; at the end,
/// `free_chains`.

#include "warpheap/workloads/join/match_pages.hpp"
#include "warpheap/workloads/join/probe.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace join {

/// As many lanes as rows.
struct mix_keys {
  join_data::key_mixing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.rows) in.mixed[i] = mix_key(in.keys[i]);
  }
};

/// As many lanes as partitions, and one more.
struct find_partitions {
  join_data::partition_search in;
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

/// As many lanes as chains.
struct prepare_chains {
  join_data::chain_preparing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.into.count) chain_of(in.into, i) = match_chain(in.into.page_bytes);
  }
};

/// Blocks with `shared_bytes_of(chunk_rows)` shared bytes, and a chain for each of their warps.
struct page_matches {
  join_data::match_paging in;
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void operator()(const Heap& heap) const {
    paged_matches sink(heap, chain_of(in.into, simt::warp_rank()), in.lost);
    join_slices(in.input, sink);
  }
};

/// As many lanes as chains.
struct count_chains {
  join_data::chain_counting in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.of.count) in.counts[i] = chain_of(in.of, i).size();
  }
};

/// As many warps as chains.
struct gather_matches {
  join_data::match_gathering in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::warp_rank();
    if (i >= in.from.count) return;
    join_data::match* to = in.matches + in.offsets[i];
    for (auto* page = chain_of(in.from, i).first(); page != nullptr; page = page->next) {
      for (std::uint32_t k = static_cast<std::uint32_t>(simt::lane_id()); k < page->used;
           k += simt::warp_size) {
        to[k] = page->elements()[k];
      }
      to += page->used;
    }
  }
};

/// As many lanes as chains.
struct free_chains {
  join_data::chain_freeing in;
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void operator()(const Heap& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.of.count) chain_of(in.of, i).clear(heap);
  }
};

}  // namespace join
WARPHEAP_END_NAMESPACE
