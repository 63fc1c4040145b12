// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/parameters.hpp"

namespace warpheap::bench {

/// What the cases that read a graph have in common.
inline constexpr parameter<graph_file> graph_path{{.name = "graph",
                                                   .unit = "file",
                                                   .about = "the graph, as a CSR file",
                                                   .role = field_role::axis}};
inline constexpr field<std::uint64_t> nodes{
    {.name = "nodes", .unit = "nodes", .about = "of the graph", .role = field_role::detail}};
inline constexpr field<std::uint64_t> entries{{.name = "entries",
                                               .unit = "entries",
                                               .about = "of all adjacencies; an edge has two",
                                               .role = field_role::detail}};
inline constexpr field<std::uint64_t> largest_degree{{.name = "largest_degree",
                                                      .unit = "entries",
                                                      .about = "of the longest adjacency",
                                                      .role = field_role::detail}};

}  // namespace warpheap::bench
