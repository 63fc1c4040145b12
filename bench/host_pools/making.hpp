// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <malloc.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "subjects.hpp"
#include "threads.hpp"

namespace warpheap::bench::host_pools {

/// The range that a new subject manages, and the most blocks that it is made for.
inline constexpr std::uint64_t new_range = std::uint64_t{1} << 30;
inline constexpr std::size_t new_blocks = 1000;

/// The processor time of making a subject, in nanoseconds.
template <class Subject>
double time_of_making() {
  const std::uint64_t start = host::processor_nanoseconds();
  const auto made = std::make_unique<Subject>(new_range, new_blocks);
  return nanoseconds_since(start);
}

/// What the bookkeeping of a subject with one block takes of the process's heap, on average over a
/// hundred of them. No more than that can be resident.
template <class Subject>
std::size_t bookkeeping_bytes_of_one() {
  const auto in_use = [] {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  constexpr std::size_t count = 100;
  std::vector<std::unique_ptr<Subject>> all(count);
  const std::size_t before = in_use();
  for (auto& one : all) {
    one = std::make_unique<Subject>(new_range, new_blocks);
    const auto freed = one->allocate(1000);
    one->allocate(1000);
    one->deallocate(freed);
  }
  return (in_use() - before) / count;
}

}  // namespace warpheap::bench::host_pools
