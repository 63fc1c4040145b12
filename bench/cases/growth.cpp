// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"
#include "warpheap/core/align.hpp"

#include <algorithm>

namespace warpheap::bench {

namespace {

/// No heap of this size survives more rounds: each leaves half of its blocks.
std::uint64_t most_rounds(const parameters& chosen) {
  constexpr std::uint64_t smallest_block = 16;
  const std::uint64_t left_a_round =
      ceil_div<std::uint64_t>(chosen[given::threads], 2) *
      round_up<std::uint64_t>(chosen[given::size_min], smallest_block);
  return std::min(chosen[given::rounds], chosen[given::heap_bytes] / left_a_round + 2);
}

constexpr field<std::uint64_t> rounds_done{
    {.name = "rounds_done", .unit = "rounds", .about = "rounds until the first null"}};
constexpr field<bool> exhausted{
    {.name = "out_of_memory", .about = "whether the rounds ended with a null"}};
constexpr field<std::uint64_t> live_blocks{
    {.name = "live_blocks", .unit = "blocks", .about = "in use at the end"}};
constexpr field<std::uint64_t> live_bytes{
    {.name = "live_bytes", .unit = "bytes", .about = "asked for by those blocks"}};
constexpr field<double> malloc_total_ms{
    {.name = "malloc_total_ms", .unit = "ms", .about = "malloc, all rounds"}};
constexpr field<double> free_total_ms{
    {.name = "free_total_ms", .unit = "ms", .about = "free, all rounds"}};

measurement measure_growth(const case_run& c) {
  const auto heap = open_heap(c);
  const std::uint64_t threads = c.chosen[given::threads];
  const std::uint64_t rounds = most_rounds(c.chosen);
  block_table blocks(c.on, batch_of(c.chosen, rounds * threads));
  std::uint64_t round = 0;
  std::uint64_t nulls = 0;
  double malloc_ms = 0;
  double free_ms = 0;
  double longest = 0;
  for (; round < rounds && nulls == 0; ++round) {
    const request_batch batch = blocks.part(round * threads, threads);
    std::uint64_t* addresses = blocks.addresses(round * threads);
    const double ms = allocate(*heap, batch, addresses);
    malloc_ms += ms;
    longest = std::max(longest, ms);
    write_blocks(c.on, batch, addresses);
    nulls = examine_blocks(c.on, batch, addresses, c.manager.alignment, false).nulls;
    // The last round keeps all that it got: it shows what fits.
    if (nulls != 0) continue;
    const selection half{selection::kind::random, threads / 2, c.chosen[given::seed] + round};
    const double freed = free_blocks(*heap, threads, addresses, half);
    free_ms += freed;
    longest = std::max(longest, freed);
  }
  blocks.shrink(round * threads);
  const block_report live = blocks.examine(c.manager.alignment);
  measurement row;
  row.add(fields::null_returns, nulls);
  row.add(fields::corrupted, live.corrupted + live.misaligned);
  row.add(rounds_done, round);
  row.add(exhausted, nulls != 0);
  row.add(live_blocks, live.served);
  row.add(live_bytes, live.bytes);
  row.add(fields::utilization,
          static_cast<double>(live.bytes) / static_cast<double>(c.chosen[given::heap_bytes]));
  row.add(malloc_total_ms, malloc_ms);
  row.add(fields::longest_ms, longest);
  row.add(free_total_ms, free_ms);
  return row;
}

const case_registration growth{
    {.name = "growth",
     .about = "every round allocates and frees half of that, until the heap is exhausted",
     .parameters = with_sizes({{&given::threads, "100000"}, {&given::rounds, "100000"}}),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&rounds_done, &exhausted, &live_blocks, &live_bytes, &fields::utilization,
                &malloc_total_ms, &fields::longest_ms, &free_total_ms},
     .run = measure_growth,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
