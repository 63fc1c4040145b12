// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Fields of programs that allocate in one launch, write in the next and free in a third: how fast
/// all of that is, and the manager's share of it.

#include "bench/host/support.hpp"
#include "bench/workloads/tables/fields.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace warpheap::bench {

namespace fields {

inline constexpr field<double> whole_bandwidth{
    {.name = "whole_bandwidth",
     .unit = "GB/s",
     .about = "bytes that were asked for and served, over the time of malloc, writing and free",
     .better = "more"}};
inline constexpr field<double> malloc_time_share{
    {.name = "malloc_time_share",
     .unit = "share",
     .about = "of the time of the launches of malloc, writing and free, in that of malloc",
     .better = "less"}};

}  // namespace fields

/// The launches of all runs, and the bytes that each run served.
struct program_times {
  std::vector<double> malloc_ms;
  std::vector<double> write_ms;
  /// The frees, if the manager has them; otherwise these calls do not count.
  std::vector<double> free_ms;
  std::vector<double> bytes;
};

/// Adds the three fields, from the medians of the warm runs.
inline void add_shares(measurement& row, const manager_info& manager, const program_times& times) {
  const double malloc_ms = summarize_warm(times.malloc_ms).median;
  const double free_ms = manager.frees ? summarize_warm(times.free_ms).median : 0;
  const double whole = malloc_ms + summarize_warm(times.write_ms).median + free_ms;
  row.add(fields::whole_bandwidth, summarize_warm(times.bytes).median / whole / 1e6);
  row.add(fields::malloc_time_share, malloc_ms / whole);
  row.add(fields::free_share, manager.frees ? std::optional(free_ms / whole) : std::nullopt);
}

}  // namespace warpheap::bench
