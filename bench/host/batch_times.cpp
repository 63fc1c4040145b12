// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/batch_times.hpp"

#include "bench/host/device_array.hpp"
#include "bench/host/fields.hpp"
#include "bench/host/needs.hpp"
#include "bench/host/statistics.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace warpheap::bench {

batch_times serve_and_free(const case_run& c, test_heap& heap, const block_table& blocks,
                           tally& wrong) {
  constexpr std::uint64_t most_sorted = std::uint64_t{1} << 22;
  const std::uint64_t last = c.chosen[given::iterations];
  batch_times took;
  for (std::uint64_t run = 0; run <= last; ++run) {
    took.malloc_ms.push_back(allocate(heap, blocks.batch(), blocks.addresses()));
    blocks.write();
    wrong.add(blocks.examine(c.manager.alignment));
    if (blocks.batch().count <= most_sorted && (run == 0 || run == last)) {
      wrong.add_corrupted(blocks.count_overlaps());
    }
    took.free_ms.push_back(free_blocks(heap, blocks.batch().count, blocks.addresses()));
    if (!c.manager.frees) heap.reset();
  }
  return took;
}

void add_free(measurement& row, const manager_info& manager, const std::vector<double>& ms) {
  if (manager.frees) {
    row.add(fields::free_ms, summarize_warm(ms));
  } else {
    row.add(fields::free_ms, std::optional<summary>());
    row.reason = std::string("no free_ms: ") + needs::frees.reason;
  }
}

std::vector<double> free_nulls(const case_run& c, test_heap& heap, std::uint64_t count) {
  const device_array<std::uint64_t> nulls(c.on, count);
  std::vector<double> ms;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    ms.push_back(free_blocks(heap, count, nulls.data()));
  }
  return ms;
}

double longest_of(std::initializer_list<std::vector<double>> series) {
  double longest = 0;
  for (const std::vector<double>& launches : series) {
    for (const double ms : launches) longest = std::max(longest, ms);
  }
  return longest;
}

}  // namespace warpheap::bench
