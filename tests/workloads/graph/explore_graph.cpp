// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "workloads/graph/graph_cases.hpp"

#include "warpheap/workloads/graph/block_adjacency.hpp"
#include "warpheap/workloads/graph/paged_adjacency.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

const registrar added[]{
    registrar{
        {"graph_blocks", subject_kind::structure, graph_cases<graph::block_adjacency>(), "", ""}},
    registrar{
        {"graph_pages", subject_kind::structure, graph_cases<graph::paged_adjacency>(), "", ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
