// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Far more threads than tables to work in: each thread takes a free table, counts its values in it
// without any atomic, and leaves it for the next one. A bitmap_tree says which tables are free.
// One source for both models: seats.cu includes this file for nvcc.

#include <warpheap/core/random.hpp>
#include <warpheap/simt/device_memory.hpp>
#include <warpheap/sync/bitmap_tree.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace simt = warpheap::simt;

constexpr std::uint32_t seats = 200;
constexpr std::uint32_t bins = 16;
constexpr std::uint32_t threads = 20'000;
constexpr std::uint32_t values_each = 30;

struct set_tables {
  warpheap::bitmap_tree free_seats;
  std::uint32_t* tables;

  WARPHEAP_DEVICE void operator()() const {
    free_seats.format(free_seats.universe(), simt::thread_rank(), simt::grid_size());
    for (std::uint64_t i = simt::thread_rank(); i < std::size_t{seats} * bins;
         i += simt::grid_size()) {
      tables[i] = 0;
    }
  }
};

struct count_values {
  warpheap::bitmap_tree free_seats;
  std::uint32_t* tables;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    if (me >= threads) return;
    const auto hash = static_cast<std::uint32_t>(warpheap::mix64(me));
    std::uint32_t seat = free_seats.claim_hashed(hash);
    while (seat == warpheap::bitmap_tree::none) {
      simt::backoff(500);  // ends: a lane that has a seat never waits
      seat = free_seats.claim_hashed(hash);
    }
    // The table is this thread's alone. It sees what earlier ones have counted, because a claim
    // acquires what an insertion released.
    warpheap::random_sequence values(me);
    for (std::uint32_t i = 0; i < values_each; ++i) ++tables[seat * bins + values.below(bins)];
    free_seats.insert(seat);
  }
};

int main() {
  try {
#if WARPHEAP_CUDA_MODEL
    const auto device = warpheap::device::cuda(0);
#else
    const auto device = warpheap::device::cpu();
#endif
    const warpheap::device_memory words(
        device, warpheap::bitmap_tree::words_for(seats) * sizeof(std::uint64_t));
    const warpheap::device_memory counts(device, std::size_t{seats} * bins * sizeof(std::uint32_t));
    const warpheap::bitmap_tree free_seats(reinterpret_cast<std::uint64_t*>(words.get()), seats);
    auto* tables = reinterpret_cast<std::uint32_t*>(counts.get());
    device.launch(simt::grid::covering(1024), set_tables{free_seats, tables});
    device.launch(simt::grid::covering(threads), count_values{free_seats, tables});
    device.synchronize();

    std::vector<std::uint32_t> got(std::size_t{seats} * bins);
    device.copy_to_host(got.data(), tables, got.size() * sizeof(std::uint32_t));
    std::vector<std::uint64_t> counted(bins);
    std::vector<std::uint64_t> expected(bins);
    for (std::size_t i = 0; i < got.size(); ++i) counted[i % bins] += got[i];
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      warpheap::random_sequence values(thread);
      for (std::uint32_t i = 0; i < values_each; ++i) ++expected[values.below(bins)];
    }
    std::printf("%u threads counted %u values each in %u tables: the counts are %s\n", threads,
                values_each, seats, counted == expected ? "right" : "WRONG");
    return counted == expected ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const warpheap::error& problem) {
    std::fprintf(stderr, "seats: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
