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

/// The size whose median is largest.
struct slowest {
  double ms = 0;
  std::uint64_t size = 0;

  void see(const std::vector<double>& samples, std::uint64_t of) {
    const double median = summarize_warm(samples).median;
    if (median > ms) *this = {median, of};
  }
};

/// One size after another in one heap: how much the sizes before slow a size down.
measurement measure_sequence(const case_run& c) {
  const auto heap = open_heap(c);
  tally wrong;
  slowest malloc;
  slowest free;
  double longest = 0;
  for (std::uint64_t size = c.chosen[given::size_min]; size <= c.chosen[given::size_max];
       size *= 2) {
    request_batch batch = batch_of(c.chosen, c.chosen[given::threads]);
    batch.size_min = batch.size_max = size;
    const block_table blocks(c.on, batch);
    const batch_times took = serve_and_free(c, *heap, blocks, wrong);
    malloc.see(took.malloc_ms, size);
    free.see(took.free_ms, size);
    longest = std::max(longest, longest_of({took.malloc_ms, took.free_ms}));
  }
  measurement row;
  wrong.put_into(row);
  row.add(slowest_malloc_ms, malloc.ms);
  row.add(slowest_malloc_size, malloc.size);
  row.add(slowest_free_ms, free.ms);
  row.add(slowest_free_size, free.size);
  row.add(fields::longest_ms, longest);
  return row;
}

const case_registration sequence{
    {.name = "sequence",
     .about =
         "all powers of two from size_min to size_max in turn in one heap, several launches each",
     .parameters = {{&given::threads, "1024"},
                    {&given::size_min, "16"},
                    {&given::size_max, "8192"},
                    {&given::heap_bytes, ""},
                    {&given::iterations, "10"},
                    {&given::seed, "1"}},
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&slowest_malloc_ms, &slowest_malloc_size, &slowest_free_ms, &slowest_free_size,
                &fields::longest_ms},
     .run = measure_sequence}};

}  // namespace

}  // namespace warpheap::bench
