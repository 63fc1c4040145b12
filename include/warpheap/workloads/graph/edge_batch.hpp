// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"
#include "warpheap/workloads/graph/requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

/// Edges that are inserted or deleted together, sorted, each only once. Host code.
struct edge_batch {
  /// `graph_data::edge_key` of each edge, ascending.
  std::vector<std::uint64_t> keys;
  /// The number of repeated edges, not counting the first of each.
  std::uint64_t duplicates = 0;
  /// The number of edges with a vertex that the graph does not have. They are left out.
  std::uint64_t out_of_range = 0;
};

/// Sorts edges in any order into a batch. O(n log n).
inline edge_batch make_batch(std::vector<std::uint64_t> keys, std::uint32_t vertices) {
  edge_batch batch;
  const std::size_t given = keys.size();
  std::erase_if(keys, [=](std::uint64_t key) {
    return key >> 32 >= vertices || static_cast<std::uint32_t>(key) >= vertices;
  });
  batch.out_of_range = given - keys.size();
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  batch.duplicates = given - batch.out_of_range - keys.size();
  batch.keys = std::move(keys);
  return batch;
}

/// The arrays of `graph_data::edge_runs` for a batch. O(n).
struct run_arrays {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> targets;

  explicit run_arrays(const edge_batch& batch) {
    targets.reserve(batch.keys.size());
    for (const std::uint64_t key : batch.keys) {
      const auto source = static_cast<std::uint32_t>(key >> 32);
      if (sources.empty() || sources.back() != source) {
        sources.push_back(source);
        offsets.push_back(targets.size());
      }
      targets.push_back(static_cast<std::uint32_t>(key));
    }
    offsets.push_back(targets.size());
  }
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
