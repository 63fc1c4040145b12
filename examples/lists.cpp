// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread builds a linked list whose length it does not know in advance, then sums and frees
// it. One source for both models: lists.cu includes this file for nvcc.
//
//   lists [HEAP_BYTES]   with a small heap, watch it run out and say so

#include <warpheap/core/parse_bytes.hpp>
#include <warpheap/warpheap.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace warpheap::literals;
namespace simt = warpheap::simt;

/// Lists have 0 to 63 nodes.
constexpr std::uint64_t lengths = 64;

struct node {
  node* next;
  std::uint64_t value;
};

struct build_and_sum {
  warpheap::heap_ref heap;
  std::uint64_t* sums;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    node* list = nullptr;
    for (std::uint64_t value = 1; value <= me % lengths; ++value) {
      auto* n = static_cast<node*>(heap.malloc(sizeof(node)));
      if (n == nullptr) break;  // out of memory: go on with the nodes so far
      *n = {list, value};
      list = n;
    }
    sums[me] = 0;
    while (list != nullptr) {
      node* n = list;
      sums[me] += n->value;
      list = n->next;
      heap.free(n);
    }
  }
};

int main(int argc, char** argv) {
  constexpr std::uint32_t threads = 1024;
  try {
    const std::size_t heap_bytes = argc > 1 ? warpheap::parse_bytes("HEAP_BYTES", argv[1]) : 16_MiB;
#if WARPHEAP_CUDA_MODEL
    const auto device = warpheap::device::cuda(0);
#else
    const auto device = warpheap::device::cpu();
#endif
    warpheap::heap heap{device, heap_bytes};
    warpheap::device_memory sums(device, threads * sizeof(std::uint64_t));
    device.launch(simt::grid::covering(threads),
                  build_and_sum{heap.ref(), reinterpret_cast<std::uint64_t*>(sums.get())});
    device.synchronize();

    std::vector<std::uint64_t> got(threads);
    device.copy_to_host(got.data(), sums.get(), threads * sizeof(std::uint64_t));
    std::uint32_t whole = 0;
    for (std::uint64_t i = 0; i < threads; ++i) {
      whole += got[i] == i % lengths * (i % lengths + 1) / 2;
    }
    const warpheap::heap_stats stats = heap.stats();
    std::printf("%u of %u lists are whole; %llu requests failed; %llu blocks in use\n", whole,
                threads, static_cast<unsigned long long>(stats.failures),
                static_cast<unsigned long long>(stats.blocks_in_use));
    if (stats.failures != 0) {
      std::printf("the heap of %llu bytes was too small; the last request was for %llu bytes\n",
                  static_cast<unsigned long long>(stats.heap_bytes),
                  static_cast<unsigned long long>(stats.last_failed_bytes));
    }
    // Without failures all lists are whole; with or without, nothing is left behind.
    return (stats.failures == 0 ? whole == threads : whole < threads) && stats.blocks_in_use == 0
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
  } catch (const warpheap::error& problem) {
    std::fprintf(stderr, "lists: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
