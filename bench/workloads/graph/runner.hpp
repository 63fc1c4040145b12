// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/device_array.hpp"
#include "bench/host/machine.hpp"
#include "bench/host/metered_request.hpp"
#include "warpheap/workloads/graph/dynamic_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpheap::bench {

/// Runs a `graph::dynamic_graph` on the survey's machines and heaps.
class graph_runner {
 public:
  graph_runner(machine& on, test_heap& heap) : on_(on), heap_(heap) {}

  /// Where updates add up the time of their mallocs and frees from now on; null: not at all.
  void meter(call_time* time) { time_ = time; }

  template <class T>
  struct array : device_array<T> {
    array(graph_runner& runner, std::size_t size) : device_array<T>(runner.on_, size) {}
    array(graph_runner& runner, const std::vector<T>& values)
        : device_array<T>(runner.on_, values) {}
  };

  template <class Request>
  double launch(std::uint64_t threads, const Request& request) {
    return on_.launch(threads, request);
  }
  template <graph::layout L>
  double launch_on_heap(std::uint64_t threads, const graph_data::clearing<L>& request) {
    return heap_.launch(threads, request);
  }
  template <class Update>
  double launch_on_heap(std::uint64_t threads, const Update& request) {
    return heap_.launch(threads, metered_request<Update>{request, time_});
  }

 private:
  machine& on_;
  test_heap& heap_;
  call_time* time_ = nullptr;
};

}  // namespace warpheap::bench
