// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"
#include "warpheap/core/align.hpp"

#include <algorithm>

namespace warpheap::bench {

namespace {

/// No heap of this size survives more rounds: each leaves half of its blocks.
std::uint64_t most_rounds(const parameters& chosen) {
  constexpr std::uint64_t smallest_block = 16;
  const std::uint64_t left_a_round = ceil_div<std::uint64_t>(chosen.threads, 2) *
                                     round_up<std::uint64_t>(chosen.size_min, smallest_block);
  return std::min(chosen.rounds, chosen.heap_bytes / left_a_round + 2);
}

}  // namespace

measurement measure_growth(const case_run& c) {
  const auto heap = open_heap(c);
  const std::uint64_t threads = c.chosen.threads;
  const std::uint64_t rounds = most_rounds(c.chosen);
  block_table blocks(c.on, batch_of(c.chosen, rounds * threads));
  std::uint64_t round = 0;
  std::uint64_t nulls = 0;
  double malloc_ms = 0;
  double free_ms = 0;
  for (; round < rounds && nulls == 0; ++round) {
    const request_batch batch = blocks.part(round * threads, threads);
    std::uint64_t* addresses = blocks.addresses(round * threads);
    malloc_ms += heap->allocate(batch, addresses);
    c.on.write_blocks(batch, addresses);
    nulls = c.on.examine_blocks(batch, addresses, c.manager.alignment, false).nulls;
    // The last round keeps all that it got: it shows what fits.
    if (nulls != 0) continue;
    const selection half{selection::kind::random, threads / 2, c.chosen.seed + round};
    free_ms += heap->release(threads, half, addresses);
  }
  blocks.shrink(round * threads);
  const block_report live = blocks.examine(c.manager.alignment);
  measurement row;
  row.null_returns = nulls;
  row.corrupted = live.corrupted + live.misaligned;
  row.add("rounds", round);
  row.add("out_of_memory", nulls != 0);
  row.add("live_blocks", live.served);
  row.add("live_bytes", live.bytes);
  row.add("utilization",
          static_cast<double>(live.bytes) / static_cast<double>(c.chosen.heap_bytes));
  row.add("malloc_total_ms", malloc_ms);
  row.add("free_total_ms", free_ms);
  return row;
}

}  // namespace warpheap::bench
