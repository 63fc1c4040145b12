// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include <chrono>
#include <vector>

namespace warpheap::bench {

namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

/// Wall-clock time of the host: making a heap consists of more than launches.
measurement measure_init(const case_run& c) {
  // Nobody allocates, so any size of pages does; this is the managers' own default.
  constexpr std::uint64_t page_bytes = 256;
  std::vector<double> init_ms;
  std::vector<double> reset_ms;
  // The first allocation on a device sets the device up; that is not the heap's time.
  const device_array<std::uint64_t> warm_up(c.on, 1);
  for (std::uint64_t run = 0; run <= c.chosen.iterations; ++run) {
    auto start = std::chrono::steady_clock::now();
    const auto heap = c.on.open(c.manager.name, {c.chosen.heap_bytes, page_bytes});
    init_ms.push_back(ms_since(start));
    start = std::chrono::steady_clock::now();
    heap->reset();
    reset_ms.push_back(ms_since(start));
  }
  measurement row;
  row.add("init_ms", summarize_warm(init_ms));
  row.add("reset_ms", summarize_warm(reset_ms));
  return row;
}

}  // namespace warpheap::bench
