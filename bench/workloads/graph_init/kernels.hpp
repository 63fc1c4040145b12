// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/kernel.hpp"
#include "bench/workloads/graph_init/requests.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::graph_init {

/// Calls `visit(block, neighbours, degree)` with the block of the lane's vertex, if it got one, and
/// with the neighbours that it should hold.
template <class Visit>
WARPHEAP_DEVICE void visit_adjacency(const bench::adjacency_table& table, const Visit& visit) {
  const std::uint64_t vertex = simt::thread_rank();
  if (vertex >= table.nodes || table.addresses[vertex] == 0) return;
  const std::uint64_t begin = table.offsets[vertex];
  visit(reinterpret_cast<std::uint32_t*>(table.addresses[vertex]), table.neighbours + begin,
        table.offsets[vertex + 1] - begin);
}

struct write_adjacencies {
  bench::adjacency_writing in;
  WARPHEAP_DEVICE void operator()() const {
    visit_adjacency(
        in.table, [](std::uint32_t* block, const std::uint32_t* neighbours, std::uint64_t degree) {
          for (std::uint64_t i = 0; i < degree; ++i) block[i] = neighbours[i];
        });
  }
};

struct count_wrong_adjacencies {
  bench::adjacency_check in;
  WARPHEAP_DEVICE void operator()() const {
    bool same = true;
    visit_adjacency(in.table, [&](const std::uint32_t* block, const std::uint32_t* neighbours,
                                  std::uint64_t degree) {
      for (std::uint64_t i = 0; i < degree; ++i) same = same && block[i] == neighbours[i];
    });
    // Relaxed: the host reads it after the launch.
    if (!same) simt::atomic_ref(*in.wrong).fetch_add(1, simt::order::relaxed);
  }
};

using kernels = type_list<write_adjacencies, count_wrong_adjacencies>;

}  // namespace lanes::graph_init
WARPHEAP_END_NAMESPACE
