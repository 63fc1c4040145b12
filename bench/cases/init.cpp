// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <chrono>
#include <vector>

namespace warpheap::bench {

namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

constexpr field<summary> init_ms{
    {.name = "init_ms", .unit = "ms", .about = "making a heap", .better = "less"}};
constexpr field<summary> reset_ms{
    {.name = "reset_ms", .unit = "ms", .about = "making all of it free again", .better = "less"}};

/// Wall-clock time of the host: making a heap consists of more than launches.
measurement measure_init(const case_run& c) {
  // No lane allocates, so any size of pages does; this is the managers' own default.
  constexpr std::uint64_t page_bytes = 256;
  std::vector<double> making;
  std::vector<double> resetting;
  // The first allocation on a device sets the device up; that is not the heap's time.
  const device_array<std::uint64_t> warm_up(c.on, 1);
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    auto start = std::chrono::steady_clock::now();
    const auto heap = c.on.open(c.manager.name, {c.chosen[given::heap_bytes], page_bytes});
    making.push_back(ms_since(start));
    start = std::chrono::steady_clock::now();
    heap->reset();
    resetting.push_back(ms_since(start));
  }
  measurement row;
  row.add(init_ms, summarize_warm(making));
  row.add(reset_ms, summarize_warm(resetting));
  return row;
}

const case_registration init{{.name = "init",
                              .about = "making a heap, and resetting it",
                              .parameters = {{&given::heap_bytes, ""}, {&given::iterations, "5"}},
                              .fields = {&init_ms, &reset_ms},
                              .run = measure_init}};

}  // namespace

}  // namespace warpheap::bench
