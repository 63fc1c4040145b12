// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the host asks of the graph's kernels (kernels.hpp): plain structures, the same for host
/// code of any compiler and for lanes of either model, so none of them is in a model's namespace.
/// All arrays are in device memory.

#include <cstddef>
#include <cstdint>

namespace warpheap::graph_data {

/// How an adjacency is laid out in memory.
enum class layout {
  blocks,  ///< one sorted block, a power of two of bytes (block_adjacency.hpp)
  pages,   ///< chained pages of one size, unsorted (paged_adjacency.hpp)
};

/// An edge as one number, so that edges sort by source and then by target.
constexpr std::uint64_t edge_key(std::uint32_t source, std::uint32_t target) {
  return std::uint64_t{source} << 32 | target;
}

/// Bytes of a vertex's adjacency, without its blocks.
constexpr std::size_t adjacency_bytes(layout of) { return of == layout::blocks ? 16 : 32; }

struct vertex_table {
  /// `count` adjacencies of the layout.
  void* adjacencies = nullptr;
  std::uint32_t count = 0;
  std::uint32_t page_bytes = 0;
};

/// Edges in runs with equal sources: the edges of run r go from vertex `sources[r]` to the targets
/// `offsets[r]` to `offsets[r + 1] - 1`, which are ascending.
struct edge_runs {
  std::uint32_t count = 0;
  const std::uint32_t* sources = nullptr;
  const std::uint64_t* offsets = nullptr;
  /// Overwritten.
  std::uint32_t* targets = nullptr;
  /// A word for each target, all 0. Overwritten.
  std::uint32_t* marks = nullptr;
};

struct update_report {
  /// Edges that were inserted or deleted.
  std::uint64_t changed = 0;
  /// New edges for which there was no memory.
  std::uint64_t refused = 0;
};

template <layout L>
struct formatting {
  vertex_table graph;
};
template <layout L>
struct insertion {
  vertex_table graph;
  edge_runs edges;
  update_report* report = nullptr;
  /// Keys of the refused edges, in any order.
  std::uint64_t* refused = nullptr;
};
template <layout L>
struct deletion {
  vertex_table graph;
  edge_runs edges;
  update_report* report = nullptr;
};
template <layout L>
struct clearing {
  vertex_table graph;
};
/// Degrees, and the bytes of all blocks.
template <layout L>
struct measuring {
  vertex_table graph;
  std::uint64_t* degrees = nullptr;
  std::uint64_t* block_bytes = nullptr;
};
/// Writes the targets of vertex v from `offsets[v]` on.
template <layout L>
struct exporting {
  vertex_table graph;
  const std::uint64_t* offsets = nullptr;
  std::uint32_t* targets = nullptr;
};
/// Each vertex gives its rank to its targets in equal shares; `received` and `lost`, from vertices
/// without targets, are in units of 2^-60.
template <layout L>
struct rank_pushing {
  vertex_table graph;
  const double* ranks = nullptr;
  std::uint64_t* received = nullptr;
  std::uint64_t* lost = nullptr;
};
/// Computes the new ranks from what was received, and adds up their changes in units of 2^-60.
struct rank_updating {
  std::uint32_t count = 0;
  double damping = 0;
  double* ranks = nullptr;
  std::uint64_t* received = nullptr;
  const std::uint64_t* lost = nullptr;
  std::uint64_t* change = nullptr;
};
/// Adds the number of triangles to `found`. The graph must have both directions of each edge.
template <layout L>
struct triangle_counting {
  vertex_table graph;
  std::uint64_t* found = nullptr;
};

/// Generates edges of an R-MAT graph (rmat.hpp), starting with number `first`.
struct rmat_request {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  int scale = 0;
  std::uint64_t* keys = nullptr;
};

}  // namespace warpheap::graph_data
