// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/block_table.hpp"
#include "bench/host/case.hpp"
#include "bench/host/machine.hpp"
#include "bench/host/row.hpp"
#include "bench/host/tally.hpp"

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace warpheap::bench {

/// The launches of a batch that is served and freed again and again, in milliseconds.
struct batch_times {
  std::vector<double> malloc_ms;
  std::vector<double> free_ms;
};

/// Serves and frees all of `blocks` in turn, once and `iterations` times more. In between the
/// blocks are written and read back; those of the first and last run are also searched for
/// overlaps, unless the host would sort for longer than it measures. A heap that frees nothing is
/// reset each time.
batch_times serve_and_free(const case_run& c, test_heap& heap, const block_table& blocks,
                           tally& wrong);

/// Adds `free_ms`: what was measured if the manager frees single blocks, else null and the reason.
void add_free(measurement& row, const manager_info& manager, const std::vector<double>& ms);

/// What `count` frees of null pointers take, as a handle answers those at once: the pointers are
/// read, and that is all. Once and `iterations` times more, in milliseconds.
std::vector<double> free_nulls(const case_run& c, test_heap& heap, std::uint64_t count);

/// The longest of several series of launches, in milliseconds.
double longest_of(std::initializer_list<std::vector<double>> series);

}  // namespace warpheap::bench
