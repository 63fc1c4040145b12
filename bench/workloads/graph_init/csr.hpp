// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpheap::bench {

/// A graph as compressed sparse rows: the neighbours of vertex v are
/// `neighbours[offsets[v]] .. neighbours[offsets[v + 1] - 1]`.
struct csr_graph {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> neighbours;

  std::uint64_t nodes() const { return offsets.size() - 1; }
  std::uint64_t entries() const { return neighbours.size(); }
  std::uint64_t largest_degree() const;
};

/// Reads the file that the survey's tool writes, little endian: "WHCSR\0\0\1", u64 nodes,
/// u64 entries, u64 offsets[nodes + 1], u32 neighbours[entries]. O(nodes + entries).
/// \throws usage_error with the file's name and what is wrong with it
csr_graph read_csr(const std::string& path);

}  // namespace warpheap::bench
