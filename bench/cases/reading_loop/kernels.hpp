// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cases/reading_loop/requests.hpp"
#include "bench/lanes/draw.hpp"
#include "bench/lanes/kernel.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::reading_loop {

/// The sum of what the lane reads in a round.
WARPHEAP_DEVICE inline std::uint32_t sum_of_round(const bench::reading& from, std::uint64_t round,
                                                  std::uint64_t rank, std::uint64_t lanes) {
  std::uint64_t at = (rank + round * from.reads * lanes) % from.count;
  std::uint32_t sum = 0;
  for (std::uint64_t k = 0; k < from.reads; ++k) {
    sum += from.words[at];
    at += lanes;
    while (at >= from.count) at -= from.count;
  }
  return sum;
}

struct read_only {
  bench::bare_loop in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= in.threads) return;
    std::uint32_t sum = 0;
    for (std::uint64_t round = 0; round < in.from.rounds; ++round) {
      sum += sum_of_round(in.from, round, rank, in.threads);
    }
    in.sums[rank] = sum;
  }
};

struct read_beside_blocks {
  bench::loop_with_blocks in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= in.batch.threads) return;
    std::uint32_t sum = 0;
    std::uint64_t nulls = 0;
    std::uint64_t corrupted = 0;
    for (std::uint64_t round = 0; round < in.from.rounds; ++round) {
      const std::uint64_t request = round * in.batch.threads + rank;
      auto* block = static_cast<std::uint32_t*>(heap.malloc(requested_bytes(in.batch, request)));
      const auto mark = static_cast<std::uint32_t>(request);
      if (block != nullptr) block[0] = mark;
      sum += sum_of_round(in.from, round, rank, in.batch.threads);
      if (block == nullptr) {
        ++nulls;
        continue;
      }
      if (block[0] != mark) ++corrupted;
      block[0] = sum;
      heap.free(block);
    }
    if (sum != in.sums[rank]) ++corrupted;
    // Relaxed: the host reads the report after the launch.
    if (nulls != 0) simt::atomic_ref(in.report->nulls).fetch_add(nulls, simt::order::relaxed);
    if (corrupted != 0) {
      simt::atomic_ref(in.report->corrupted).fetch_add(corrupted, simt::order::relaxed);
    }
  }
};

using kernels = type_list<read_only, read_beside_blocks>;

}  // namespace lanes::reading_loop
WARPHEAP_END_NAMESPACE
