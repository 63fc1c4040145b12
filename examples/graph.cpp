// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dynamic graph whose adjacencies are blocks of a heap: inserts R-MAT edges until memory is
// exhausted, deletes a half, and inserts those that did not fit. One source for both models:
// graph.cu includes this file for nvcc.
//
//   graph [HEAP_BYTES]

#include <warpheap/core/parse_bytes.hpp>
#include <warpheap/warpheap.hpp>
#include <warpheap/workloads/graph/heap_runner.hpp>
#include <warpheap/workloads/graph/rmat.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace warpheap::literals;

namespace {

/// Says what does not hold.
bool expect(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "graph: wrong: %s\n", what);
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int scale = 10;
  constexpr std::uint32_t vertices = 1u << scale;
  try {
    const std::size_t heap_bytes = argc > 1 ? warpheap::parse_bytes("HEAP_BYTES", argv[1]) : 96_KiB;
#if WARPHEAP_CUDA_MODEL
    const auto device = warpheap::device::cuda(0);
#else
    const auto device = warpheap::device::cpu();
#endif
    const warpheap::heap heap{device, heap_bytes};
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
      right = expect(first.changed + first.refused.size() == batch.keys.size(),
                     "an edge of the batch was neither inserted nor refused") &&
              expect(graph.edges().size() == first.changed - old.size() + again.changed,
                     "the graph does not have the edges that were inserted and not deleted");
    }
    const std::uint64_t left = heap.stats().blocks_in_use;
    std::printf("%llu blocks in use after the graph's end\n",
                static_cast<unsigned long long>(left));
    right = expect(left == 0, "blocks are in use after the graph's end") && right;
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const warpheap::error& problem) {
    std::fprintf(stderr, "graph: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
