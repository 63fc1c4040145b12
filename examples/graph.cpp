// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dynamic graph whose adjacencies are blocks of a heap: inserts R-MAT edges until memory is
// exhausted, deletes a half, and inserts those that did not fit. One source for both models:
// graph.cu includes this file for nvcc.
//
//   graph [HEAP_KIB]

#include <warpheap/warpheap.hpp>
#include <warpheap/workloads/graph/heap_runner.hpp>
#include <warpheap/workloads/graph/rmat.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace warpheap::literals;

int main(int argc, char** argv) {
  constexpr int scale = 10;
  constexpr std::uint32_t vertices = 1u << scale;
  const std::size_t heap_bytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) * 1_KiB : 96_KiB;
  try {
#if WARPHEAP_CUDA_MODEL
    const auto device = warpheap::device::cuda(0);
#else
    const auto device = warpheap::device::cpu();
#endif
    const warpheap::heap heap{device, heap_bytes};
    std::uint64_t left = 0;
    bool right = true;
    {
      warpheap::graph::heap_runner runner(heap);
      warpheap::graph::block_graph graph(runner, vertices);
      std::vector<std::uint64_t> keys;
      constexpr std::uint64_t edges = std::uint64_t{16} * vertices;
      keys.reserve(edges);
      for (std::uint64_t i = 0; i < edges; ++i) {
        keys.push_back(warpheap::graph::rmat_edge(1, i, scale));
      }
      const auto batch = warpheap::graph::make_batch(keys, vertices);
      const auto first = graph.insert(batch);
      std::printf("%zu edges: %llu inserted, %zu found no memory\n", batch.keys.size(),
                  static_cast<unsigned long long>(first.changed), first.refused.size());

      std::vector<std::uint64_t> old = graph.edges();
      old.resize(old.size() / 2);
      graph.erase(warpheap::graph::make_batch(old, vertices));
      const auto again = graph.insert(warpheap::graph::make_batch(first.refused, vertices));
      std::printf("after deleting %zu edges, %llu of those were inserted\n", old.size(),
                  static_cast<unsigned long long>(again.changed));

      const auto ranks = graph.pagerank();
      const auto best = std::max_element(ranks.of.begin(), ranks.of.end()) - ranks.of.begin();
      std::printf("vertex %td has the highest rank, %f\n", best,
                  ranks.of[static_cast<std::size_t>(best)]);
      right = first.changed + first.refused.size() == batch.keys.size() &&
              graph.edges().size() == first.changed - old.size() + again.changed;
    }
    left = heap.stats().blocks_in_use;
    std::printf("%llu blocks in use after the graph's end\n",
                static_cast<unsigned long long>(left));
    return right && left == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const warpheap::error& problem) {
    std::fprintf(stderr, "graph: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
