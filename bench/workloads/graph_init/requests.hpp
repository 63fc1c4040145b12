// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace warpheap::bench {

/// A graph in device memory, and the blocks of its vertices' adjacencies.
struct adjacency_table {
  std::uint64_t nodes = 0;
  const std::uint64_t* offsets = nullptr;
  const std::uint32_t* neighbours = nullptr;
  const std::uint64_t* addresses = nullptr;
};

/// Every vertex's lane writes its adjacency into its block.
struct adjacency_writing {
  adjacency_table table;
};

/// Counts the adjacencies whose block does not hold what the graph has (null blocks are left out).
struct adjacency_check {
  adjacency_table table;
  std::uint64_t* wrong = nullptr;
};

}  // namespace warpheap::bench
