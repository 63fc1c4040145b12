// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cases/reading_loop/requests.hpp"
#include "bench/host/support.hpp"
#include "warpheap/core/hash.hpp"

#include <algorithm>
#include <vector>

namespace warpheap::bench {

namespace {

/// Smaller tables are read from caches, so that the loop would not wait for memory.
constexpr std::uint64_t words_of_table = std::uint64_t{1} << 28;

constexpr parameter<std::uint64_t> reads{
    {.name = "reads",
     .unit = "words",
     .about = "of 4 bytes that each thread reads while it has a block",
     .role = field_role::facet,
     .phrase = "{} read words"},
    {.least = 1, .most = 1 << 20}};

constexpr field<summary> bare_loop_ms{
    {.name = "bare_loop_ms", .unit = "ms", .about = "a launch that only reads", .better = "less"}};
constexpr field<summary> loop_ms{
    {.name = "loop_ms",
     .unit = "ms",
     .about = "a launch that reads as many words, with a malloc before and a free after each round",
     .better = "less"}};
constexpr field<double> slowdown{{.name = "slowdown",
                                  .unit = "times",
                                  .about = "median of loop_ms over that of bare_loop_ms",
                                  .better = "less"}};

/// What calls cost a kernel that waits for memory: their time, and the registers that they take
/// from its loop.
measurement measure_reading_loop(const case_run& c) {
  const auto heap = open_heap(c);
  const std::uint64_t threads = c.chosen[given::threads];
  const std::uint64_t wanted = threads * c.chosen[reads] * c.chosen[given::rounds];
  std::vector<std::uint32_t> contents(std::min(wanted, words_of_table));
  for (std::size_t i = 0; i < contents.size(); ++i) {
    contents[i] = static_cast<std::uint32_t>(mix64(c.chosen[given::seed] + i));
  }
  const device_array<std::uint32_t> words(c.on, contents);
  const device_array<std::uint32_t> sums(c.on, threads);
  const device_array<loop_report> report(c.on, 1);
  const reading nothing{words.data(), words.size(), c.chosen[reads], 0};
  bare_loop bare{threads, nothing, sums.data()};
  loop_with_blocks with_blocks{batch_of(c.chosen, threads), nothing, sums.data(), report.data()};
  // No rounds: loads the kernels.
  c.on.launch(threads, bare);
  heap->launch(threads, with_blocks);
  bare.from.rounds = with_blocks.from.rounds = c.chosen[given::rounds];
  std::vector<double> bare_times;
  std::vector<double> times;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    bare_times.push_back(c.on.launch(threads, bare));
    times.push_back(heap->launch(threads, with_blocks));
  }
  const loop_report found = report.to_host().front();
  tally wrong;
  wrong.add_nulls(found.nulls);
  wrong.add_corrupted(found.corrupted);
  measurement row;
  wrong.put_into(row);
  const summary bare_summary = summarize_warm(bare_times);
  const summary with_calls = summarize_warm(times);
  row.add(bare_loop_ms, bare_summary);
  row.add(loop_ms, with_calls);
  row.add(slowdown, with_calls.median / bare_summary.median);
  row.add(fields::longest_ms, longest_of({times}));
  return row;
}

const case_registration reading_loop{
    {.name = "reading_loop",
     .about = "each thread reads an array, and has a block from its first to its last read of a "
              "round",
     .parameters = with_sizes({{&given::threads, "1048576"},
                               {&given::rounds, "4"},
                               {&reads, "64"},
                               {&given::iterations, "10"}},
                              "64"),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&bare_loop_ms, &loop_ms, &slowdown, &fields::longest_ms},
     .run = measure_reading_loop}};

}  // namespace

}  // namespace warpheap::bench
