// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Heaps as the parameters of a case describe them: new, full, or with free places at random.

#include "bench/host/block_table.hpp"
#include "bench/host/case.hpp"
#include "bench/host/machine.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace warpheap::bench {

/// A heap of the chosen size whose pages, if the manager has pages, hold `largest` bytes. The
/// kernels of the heap are loaded, so that the first measured launch is not the one that loads
/// them. \throws not_claimed if the manager cannot serve that size
std::unique_ptr<test_heap> open_heap(const case_run& c, std::uint64_t largest);
std::unique_ptr<test_heap> open_heap(const case_run& c);

/// The sizes that a case asks for, in words: '64 bytes' or '16 to 64 bytes'.
std::string sizes_in_words(const case_run& c);

/// The reason of a case whose heap has no room for what is named, such as 'two blocks'.
not_claimed too_small_for(const case_run& c, const std::string& what);

/// Blocks that fill a heap up, and what filling it took.
struct heap_fill {
  block_table blocks;
  std::uint64_t nulls = 0;
  double ms = 0;
  double longest_ms = 0;  ///< of a single launch
  std::uint64_t launches = 0;
};

/// Launches the requests of `all` in batches of `threads` threads until one of them gets a null, or
/// all were asked for.
heap_fill fill_heap(const case_run& c, test_heap& heap, std::uint64_t threads,
                    const request_batch& all);
/// The same for as many requests of the chosen sizes as a heap of this size cannot hold.
heap_fill fill_heap(const case_run& c, test_heap& heap, std::uint64_t threads);

/// Occupies the heap so that `free_percent` of it, in random places, is free: fills it and
/// frees a random share of the blocks. Null with 100 %.
std::unique_ptr<heap_fill> occupy(const case_run& c, test_heap& heap);

}  // namespace warpheap::bench
