// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cases/steady/requests.hpp"
#include "bench/host/support.hpp"
#include "warpheap/core/bits.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

/// Three launches at once, in blocks of these many threads: full warps, cut ones, and as many as a
/// block can have.
const std::vector<std::uint32_t> threads_per_block{96, 1000, 1024};

/// Launches until the heap is full, beyond which it is not going to be.
constexpr int most_filling = 256;

constexpr parameter<std::string_view> contents{
    {.name = "contents",
     .about = "'ends': the first and last word of a block is checked; 'whole': every word",
     .role = field_role::detail},
    {.choices = {"ends", "whole"}},
    "ends"};

constexpr field<double> malloc_rate{{.name = "malloc_rate",
                                     .unit = "M/s",
                                     .about = "mallocs that were served, in millions per second",
                                     .better = "more"}};
constexpr field<double> live_share{{.name = "live_share",
                                    .unit = "share",
                                    .about = "bytes in use by callers at the end, over the heap's",
                                    .better = "more"}};
constexpr field<std::uint64_t> refused{{.name = "refused",
                                        .unit = "requests",
                                        .about = "requests that got null from the full heap",
                                        .role = field_role::detail}};

/// Slots for about twice what the heap can hold.
std::uint64_t slots_for(const request_batch& sizes, std::uint64_t heap_bytes) {
  double mean = static_cast<double>(sizes.size_min + sizes.size_max) / 2;
  if (sizes.sizes == distribution::powers) {
    const int choices = floor_log2(sizes.size_max) - floor_log2(sizes.size_min) + 1;
    mean = static_cast<double>(2 * sizes.size_max - sizes.size_min) / choices;
  }
  return static_cast<std::uint64_t>(2 * static_cast<double>(heap_bytes) / std::max(mean, 16.0)) + 1;
}

/// Demand always exceeds what the heap holds: lanes exchange blocks through a table of slots
/// that wants twice the heap, so blocks are freed by other lanes, blocks and launches than those
/// that took them, and nearly every request meets a heap that is full.
measurement measure_steady(const case_run& c) {
  const auto heap = open_heap(c);
  const device_array<exchange_report> report(c.on, 1);
  exchanging request;
  request.threads = c.chosen[given::threads];
  request.rounds = c.chosen[given::rounds];
  request.sizes = batch_of(c.chosen, request.threads);
  request.alignment = c.manager.alignment;
  request.whole = c.chosen[contents] == "whole";
  request.slot_count = slots_for(request.sizes, c.chosen[given::heap_bytes]);
  const device_array<std::uint64_t> slots(c.on, request.slot_count);
  request.slots = slots.data();
  request.report = report.data();
  std::uint64_t launches = 0;
  const auto launch_all = [&] {
    std::vector<exchanging> requests;
    for (std::size_t i = 0; i < threads_per_block.size(); ++i) {
      request.sizes.seed = c.chosen[given::seed] + ++launches;
      requests.push_back(request);
    }
    const std::vector<double> ms =
        heap->launch_together(request.threads, threads_per_block, requests);
    return *std::max_element(ms.begin(), ms.end());
  };
  double longest = 0;
  for (int i = 0; i < most_filling && report.to_host().front().nulls == 0; ++i) {
    longest = std::max(longest, launch_all());
  }
  const exchange_report before = report.to_host().front();
  if (before.nulls == 0) {
    throw not_claimed("the heap of " + std::to_string(c.chosen[given::heap_bytes]) +
                      " bytes did not get full with blocks of " + sizes_in_words(c) + " in " +
                      std::to_string(most_filling) + " rounds: give it fewer bytes");
  }
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t run = 0; run < c.chosen[given::iterations]; ++run) {
    longest = std::max(longest, launch_all());
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const exchange_report after = report.to_host().front();
  const device_array<block_report> live(c.on, 1);
  heap->launch(request.slot_count, slot_emptying{request, live.data()});
  const block_report left = live.to_host().front();
  measurement row;
  row.add(fields::null_returns, std::uint64_t{0});
  row.add(fields::corrupted, after.corrupted + left.corrupted);
  row.add(malloc_rate, static_cast<double>(after.served - before.served) / elapsed.count() / 1e6);
  row.add(live_share,
          static_cast<double>(left.bytes) / static_cast<double>(c.chosen[given::heap_bytes]));
  row.add(refused, after.nulls - before.nulls);
  row.add(fields::blocks, left.served);
  row.add(fields::longest_ms, longest);
  return row;
}

const case_registration steady{
    {.name = "steady",
     .about =
         "three launches at once, whose lanes exchange blocks while more is asked for than the "
         "heap holds",
     .parameters = with_sizes({{&given::threads, "262144"},
                               {&given::rounds, "32"},
                               {&given::iterations, "10"},
                               {&contents, "ends"}},
                              "64"),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&malloc_rate, &live_share, &refused, &fields::blocks, &fields::longest_ms},
     .run = measure_steady,
     .fills = true}};

}  // namespace

}  // namespace warpheap::bench
