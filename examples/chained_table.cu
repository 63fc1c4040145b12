// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts keys in a hash table whose nodes come from malloc in kernels (chained_table.cuh), forgets
// the rare ones, counts again. Built twice: as it stands, and linked with warpheap::malloc.
#include "chained_table.cuh"

#include <chrono>
#include <cstdio>
#include <unordered_map>
#include <vector>

using chained::key_type;

static double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

int main() {
  constexpr std::uint32_t count = 1u << 20;
  chained::check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t(512) << 20),
                 "set the size of CUDA's heap");
  key_type* keys = nullptr;
  chained::count_type* counts = nullptr;
  chained::check(cudaMallocManaged(&keys, count * sizeof *keys), "allocate the keys");
  chained::check(cudaMallocManaged(&counts, count * sizeof *counts), "allocate the counts");
  std::uint64_t state = 1;
  std::unordered_map<key_type, std::uint64_t> expected;
  for (std::uint32_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    keys[i] = (state >> 33) % count;  // about a third of the keys are met once
    ++expected[keys[i]];
  }

  chained::table table(1u << 20);
  table.add(keys, 1);  // loads the code and makes the heap
  table.prune(2);
  double add_ms = 0;
  double prune_ms = 0;
  for (int round = 0; round < 3; ++round) {
    auto start = std::chrono::steady_clock::now();
    const std::uint32_t refused = table.add(keys, count);
    add_ms = ms_since(start);
    if (refused != 0) {
      std::fprintf(stderr, "no memory for %u of %u keys\n", refused, count);
      return 1;
    }
    chained::count_all<<<(count + 255) / 256, 256>>>(table.on_device(), keys, count, counts);
    chained::check(cudaDeviceSynchronize(), "count");
    for (std::uint32_t i = 0; i < count; ++i) {
      if (counts[i] != expected[keys[i]]) {
        std::fprintf(stderr, "key %llu was met %llu times, not %llu\n",
                     static_cast<unsigned long long>(keys[i]),
                     static_cast<unsigned long long>(expected[keys[i]]), counts[i]);
        return 1;
      }
    }
    start = std::chrono::steady_clock::now();
    const std::uint32_t forgotten = table.prune(~chained::count_type(0));
    prune_ms = ms_since(start);
    if (forgotten != expected.size()) {
      std::fprintf(stderr, "%u nodes were freed, not %zu\n", forgotten, expected.size());
      return 1;
    }
  }
  std::printf("chained_table: %u keys, %zu nodes: add %.3f ms, free %.3f ms\n", count,
              expected.size(), add_ms, prune_ms);
  return 0;
}
