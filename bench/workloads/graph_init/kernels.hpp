// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/kernel.hpp"
#include "bench/workloads/graph_init/request.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::graph_init {

struct write_adjacencies {
  bench::adjacency_writing in;
  WARPHEAP_DEVICE void operator()() const {
    const bench::adjacency_table& table = in.table;
    const std::uint64_t vertex = simt::thread_rank();
    if (vertex >= table.nodes || table.addresses[vertex] == 0) return;
    auto* block = reinterpret_cast<std::uint32_t*>(table.addresses[vertex]);
    const std::uint64_t begin = table.offsets[vertex];
    const std::uint64_t degree = table.offsets[vertex + 1] - begin;
    for (std::uint64_t i = 0; i < degree; ++i) block[i] = table.neighbours[begin + i];
  }
};

struct count_wrong_adjacencies {
  bench::adjacency_check in;
  WARPHEAP_DEVICE void operator()() const {
    const bench::adjacency_table& table = in.table;
    const std::uint64_t vertex = simt::thread_rank();
    if (vertex >= table.nodes || table.addresses[vertex] == 0) return;
    const auto* block = reinterpret_cast<const std::uint32_t*>(table.addresses[vertex]);
    const std::uint64_t begin = table.offsets[vertex];
    const std::uint64_t degree = table.offsets[vertex + 1] - begin;
    bool same = true;
    for (std::uint64_t i = 0; i < degree; ++i) {
      same = same && block[i] == table.neighbours[begin + i];
    }
    // Relaxed: the host reads it after the launch.
    if (!same) simt::atomic_ref(*in.wrong).fetch_add(1, simt::order::relaxed);
  }
};

using kernels = type_list<write_adjacencies, count_wrong_adjacencies>;

}  // namespace lanes::graph_init
WARPHEAP_END_NAMESPACE
