// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/heap.hpp"
#include "warpheap/simt/device_memory.hpp"
#include "warpheap/workloads/graph/dynamic_graph.hpp"
#include "warpheap/workloads/graph/kernels.hpp"
#include "warpheap/workloads/graph/pagerank.hpp"
#include "warpheap/workloads/graph/triangles.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace graph {

namespace detail {
/// A kernel with the handle of its heap.
template <class Kernel, class Handle>
struct with_heap {
  Kernel kernel;
  Handle heap;
  WARPHEAP_DEVICE void operator()() const { kernel(heap); }
};
}  // namespace detail

/// Runs a graph's kernels with any heap; see `dynamic_graph`. The heap must outlive it.
///
///     warpheap::heap heap{device, 1_GiB};
///     warpheap::graph::heap_runner runner(heap);
///     warpheap::graph::block_graph graph(runner, vertices);
///     auto result = graph.insert(warpheap::graph::make_batch(keys, vertices));
template <class Heap>
class heap_runner {
 public:
  explicit heap_runner(const Heap& from) : heap_(from) {}

  template <class T>
  class array {
   public:
    array(const heap_runner& on, std::size_t size)
        : on_(&on.heap_.on()), size_(size), memory_(*on_, bytes()) {
      on_->fill(memory_.get(), 0, bytes());
    }
    array(const heap_runner& on, const std::vector<T>& values) : array(on, values.size()) {
      if (size_ != 0) on_->copy_to_device(memory_.get(), values.data(), size_ * sizeof(T));
    }
    T* data() const { return reinterpret_cast<T*>(memory_.get()); }
    std::vector<T> to_host() const {
      std::vector<T> values(size_);
      if (size_ != 0) on_->copy_to_host(values.data(), memory_.get(), size_ * sizeof(T));
      return values;
    }

   private:
    std::size_t bytes() const { return size_ == 0 ? 1 : size_ * sizeof(T); }
    const device* on_;
    std::size_t size_;
    device_memory memory_;
  };

  // Which kernel a request is for.
  template <layout L>
  double launch(std::uint64_t threads, const graph_data::formatting<L>& in) {
    return run(threads, format_vertices<L>{in});
  }
  template <layout L>
  double launch(std::uint64_t threads, const graph_data::measuring<L>& in) {
    return run(threads, measure_vertices<L>{in});
  }
  template <layout L>
  double launch(std::uint64_t threads, const graph_data::exporting<L>& in) {
    return run(threads, export_edges<L>{in});
  }
  template <layout L>
  double launch(std::uint64_t threads, const graph_data::rank_pushing<L>& in) {
    return run(threads, push_ranks<L>{in});
  }
  double launch(std::uint64_t threads, const graph_data::rank_updating& in) {
    return run(threads, update_ranks{in});
  }
  template <layout L>
  double launch(std::uint64_t threads, const graph_data::triangle_counting<L>& in) {
    return run(threads, count_triangles<L>{in});
  }
  template <layout L>
  double launch_on_heap(std::uint64_t threads, const graph_data::insertion<L>& in) {
    return run_on_heap(threads, insert_edges<L>{in});
  }
  template <layout L>
  double launch_on_heap(std::uint64_t threads, const graph_data::deletion<L>& in) {
    return run_on_heap(threads, delete_edges<L>{in});
  }
  template <layout L>
  double launch_on_heap(std::uint64_t threads, const graph_data::clearing<L>& in) {
    return run_on_heap(threads, clear_vertices<L>{in});
  }

 private:
  template <class Functor>
  double run(std::uint64_t threads, const Functor& functor) {
    const double ms = heap_.on().start(simt::grid::covering(threads), functor).ms();
    heap_.on().synchronize();
    return ms;
  }
  template <class Kernel>
  double run_on_heap(std::uint64_t threads, const Kernel& kernel) {
    return run(threads, detail::with_heap<Kernel, typename Heap::ref_type>{kernel, heap_.ref()});
  }

  const Heap& heap_;
};

template <class Runner>
class block_graph : public dynamic_graph<Runner, layout::blocks> {
 public:
  block_graph(Runner& on, std::uint32_t vertices)
      : dynamic_graph<Runner, layout::blocks>(on, vertices) {}
};
template <class Runner>
class paged_graph : public dynamic_graph<Runner, layout::pages> {
 public:
  paged_graph(Runner& on, std::uint32_t vertices, std::uint32_t page_bytes = 64)
      : dynamic_graph<Runner, layout::pages>(on, vertices, page_bytes) {}
};

}  // namespace graph
WARPHEAP_END_NAMESPACE
