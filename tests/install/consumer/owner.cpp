// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code that a host compiler reads: owns a heap, passes it around and hands it to kernels.
#include "squares.hpp"

#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t bytes = 1 << 20;

warpheap::any_heap make_heap() {
#ifdef CONSUMER_HAS_CUDA
  return warpheap::make_cuda_heap(0, bytes, {.stream = nullptr});
#else
  return warpheap::make_cpu_heap(bytes);
#endif
}

}  // namespace

int main() {
  try {
    std::vector<warpheap::any_heap> heaps;
    heaps.push_back(make_heap());
    warpheap::any_heap mine = std::move(heaps.front());
    const int sum = sum_of_squares(mine, 100);
    std::puts(mine.report().c_str());
    const bool leaked = mine.stats().blocks_in_use != 100;
    mine.reset();
    return sum == 328350 && !leaked && mine.stats().blocks_in_use == 0 ? 0 : 1;
  } catch (const warpheap::error& problem) {
    std::puts(problem.what());
    return 1;
  }
}
