// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/metered_heap.hpp"
#include "warpheap/workloads/graph/kernels.hpp"
#include "warpheap/workloads/graph/pagerank.hpp"
#include "warpheap/workloads/graph/rmat.hpp"
#include "warpheap/workloads/graph/triangles.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::graph {

template <graph_data::layout L>
using kernels_of =
    type_list<metered<warpheap::graph::insert_edges<L>>, metered<warpheap::graph::delete_edges<L>>,
              warpheap::graph::clear_vertices<L>, warpheap::graph::format_vertices<L>,
              warpheap::graph::measure_vertices<L>, warpheap::graph::export_edges<L>,
              warpheap::graph::push_ranks<L>, warpheap::graph::count_triangles<L>>;

using kernels =
    joined<kernels_of<graph_data::layout::blocks>, kernels_of<graph_data::layout::pages>,
           type_list<warpheap::graph::update_ranks, warpheap::graph::generate_rmat>>::type;

}  // namespace lanes::graph
WARPHEAP_END_NAMESPACE
