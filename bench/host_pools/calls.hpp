// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "subjects.hpp"

namespace warpheap::bench::host_pools {

/// The operations of a trace file: 64-bit words, as warpheap_trace has them (host/c/replay.h).
struct trace {
  std::vector<std::int64_t> operations;
  /// Requests in whole granules. Kept: where a large vector has been freed, the C library
  /// puts the pools' tables into its heap, and whether they are copied as they grow depends on what
  /// else lies there.
  std::vector<std::uint64_t> sizes;
  std::size_t warm_up = 0;
  std::size_t asks = 0;
  std::uint64_t peak = 0;  ///< the most bytes in use at once, whole granules
  std::size_t peak_blocks = 0;
};

inline trace read(const char* path, std::size_t warm_up) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  trace t;
  t.operations.resize(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)) / 8);
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(t.operations.data()),
                 static_cast<std::streamsize>(8 * t.operations.size()))) {
    std::fprintf(stderr, "%s: cannot be read\n", path);
    std::exit(2);
  }
  t.warm_up = std::min(warm_up, t.operations.size());
  t.sizes.reserve(t.operations.size());
  std::uint64_t in_use = 0;
  std::size_t blocks = 0;
  for (const std::int64_t operation : t.operations) {
    if (operation >= 0) {
      t.sizes.push_back(align_up<std::uint64_t>(static_cast<std::uint64_t>(operation), granule));
      in_use += t.sizes.back();
      t.peak = std::max(t.peak, in_use);
      t.peak_blocks = std::max(t.peak_blocks, ++blocks);
    } else {
      in_use -= t.sizes[static_cast<std::size_t>(-1 - operation)];
      --blocks;
    }
  }
  t.asks = t.sizes.size();
  return t;
}

/// The calls from `first` to before `end`. False at the first request without memory. A function of
/// its own, so that callgrind can count what it does and nothing else.
template <class Subject, class Handle>
[[gnu::noinline, gnu::flatten]] bool make_calls(Subject& subject, const trace& t, std::size_t first,
                                                std::size_t end, std::vector<Handle>& blocks) {
  auto asked = static_cast<std::size_t>(
      std::count_if(t.operations.begin(), t.operations.begin() + static_cast<std::ptrdiff_t>(first),
                    [](std::int64_t operation) { return operation >= 0; }));
  for (std::size_t event = first; event < end; ++event) {
    const std::int64_t operation = t.operations[event];
    if (operation >= 0) {
      blocks[asked] = subject.allocate(static_cast<std::uint64_t>(operation));
      if (Subject::offset(blocks[asked++]) == nowhere) return false;
    } else {
      subject.deallocate(blocks[static_cast<std::size_t>(-1 - operation)]);
    }
  }
  return true;
}

}  // namespace warpheap::bench::host_pools
