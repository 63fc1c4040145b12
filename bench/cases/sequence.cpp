// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <algorithm>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<double> slowest_malloc_ms{
    {.name = "slowest_malloc_ms",
     .unit = "ms",
     .about = "malloc of the size that takes longest, median of the warm runs",
     .better = "less"}};
constexpr field<std::uint64_t> slowest_malloc_size{{.name = "slowest_malloc_size",
                                                    .unit = "bytes",
                                                    .about = "that size",
                                                    .role = field_role::detail}};
constexpr field<double> slowest_free_ms{
    {.name = "slowest_free_ms",
     .unit = "ms",
     .about = "free of the size that takes longest, median of the warm runs",
     .better = "less"}};
constexpr field<std::uint64_t> slowest_free_size{{.name = "slowest_free_size",
                                                  .unit = "bytes",
                                                  .about = "that size",
                                                  .role = field_role::detail}};

constexpr field<double> malloc_over_fresh{
    {.name = "malloc_over_fresh",
     .unit = "times",
     .about = "malloc over that of a heap which has seen no other size, medians; of the size that "
              "suffers most",
     .better = "less"}};
constexpr field<double> free_over_fresh{
    {.name = "free_over_fresh", .unit = "times", .about = "free, likewise", .better = "less"}};

/// The medians of the warm launches of one size.
struct size_times {
  std::uint64_t size = 0;
  double malloc_ms = 0;
  double free_ms = 0;
  double longest_ms = 0;
};

size_times measure_size(const case_run& c, test_heap& heap, std::uint64_t size, tally& wrong) {
  request_batch batch = batch_of(c.chosen, c.chosen[given::threads]);
  batch.size_min = batch.size_max = size;
  const block_table blocks(c.on, batch);
  const batch_times took = serve_and_free(c, heap, blocks, wrong);
  return {size, summarize_warm(took.malloc_ms).median, summarize_warm(took.free_ms).median,
          longest_of({took.malloc_ms, took.free_ms})};
}

/// One size after another in one heap, and then each in a heap of its own: how much the sizes
/// before slow a size down.
measurement measure_sequence(const case_run& c) {
  tally wrong;
  std::vector<size_times> in_turn;
  {
    const auto heap = open_heap(c);
    for (std::uint64_t size = c.chosen[given::size_min]; size <= c.chosen[given::size_max];
         size *= 2) {
      in_turn.push_back(measure_size(c, *heap, size, wrong));
    }
  }
  double malloc_ratio = 0;
  double free_ratio = 0;
  for (const size_times& used : in_turn) {
    const auto heap = open_heap(c);
    const size_times fresh = measure_size(c, *heap, used.size, wrong);
    malloc_ratio = std::max(malloc_ratio, used.malloc_ms / fresh.malloc_ms);
    free_ratio = std::max(free_ratio, used.free_ms / fresh.free_ms);
  }
  const size_times malloc = *std::ranges::max_element(in_turn, {}, &size_times::malloc_ms);
  const size_times free = *std::ranges::max_element(in_turn, {}, &size_times::free_ms);
  const size_times longest = *std::ranges::max_element(in_turn, {}, &size_times::longest_ms);
  measurement row;
  wrong.put_into(row);
  row.add(slowest_malloc_ms, malloc.malloc_ms);
  row.add(slowest_malloc_size, malloc.size);
  row.add(slowest_free_ms, free.free_ms);
  row.add(slowest_free_size, free.size);
  row.add(malloc_over_fresh, malloc_ratio);
  row.add(free_over_fresh, free_ratio);
  row.add(fields::longest_ms, longest.longest_ms);
  return row;
}

const case_registration sequence{
    {.name = "sequence",
     .about =
         "all powers of two from size_min to size_max in turn in one heap, several launches each; "
         "then each in a new heap",
     .parameters = {{&given::threads, "1024"},
                    {&given::size_min, "16"},
                    {&given::size_max, "8192"},
                    {&given::heap_bytes, ""},
                    {&given::iterations, "10"},
                    {&given::seed, "1"}},
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&slowest_malloc_ms, &slowest_malloc_size, &slowest_free_ms, &slowest_free_size,
                &malloc_over_fresh, &free_over_fresh, &fields::longest_ms},
     .run = measure_sequence}};

}  // namespace

}  // namespace warpheap::bench
