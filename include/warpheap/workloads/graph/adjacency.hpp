// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/workloads/graph/block_adjacency.hpp"
#include "warpheap/workloads/graph/paged_adjacency.hpp"
#include "warpheap/workloads/graph/requests.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

using graph_data::layout;

template <layout L>
struct adjacency_of;
template <>
struct adjacency_of<layout::blocks> {
  using type = block_adjacency;
};
template <>
struct adjacency_of<layout::pages> {
  using type = paged_adjacency;
};

static_assert(sizeof(block_adjacency) == graph_data::adjacency_bytes(layout::blocks));
static_assert(sizeof(paged_adjacency) == graph_data::adjacency_bytes(layout::pages));

/// The adjacency of vertex `v`.
template <layout L>
WARPHEAP_DEVICE typename adjacency_of<L>::type& adjacency(const graph_data::vertex_table& of,
                                                          std::uint64_t v) {
  return static_cast<typename adjacency_of<L>::type*>(of.adjacencies)[v];
}

}  // namespace graph
WARPHEAP_END_NAMESPACE
