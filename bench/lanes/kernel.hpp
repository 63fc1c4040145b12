// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a kernel of the survey is: a trivially copyable type with a member `in` of the type of its
/// request, and a call operator for lanes. A kernel that uses a heap is called with the heap's
/// handle and may constrain what it asks of it; one that needs none is called without arguments. A
/// list of them is instantiated for every manager.

#include "bench/host/machine.hpp"
#include "warpheap/core/config.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/core/type_list.hpp"
#include "warpheap/simt/simt.hpp"

#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

template <class Kernel>
using request_of = decltype(Kernel::in);

/// A kernel with the handle of the heap that it uses.
template <class Kernel, class... Handle>
struct bound;
template <class Kernel, class Handle>
struct bound<Kernel, Handle> {
  Handle heap;
  Kernel kernel;
  WARPHEAP_DEVICE void operator()() const { kernel(heap); }
};
template <class Kernel>
struct bound<Kernel> {
  Kernel kernel;
  WARPHEAP_DEVICE void operator()() const { kernel(); }
};

/// Whether the kernel can be called with these handles: one, or none.
template <class Kernel, class... Handle>
concept runs_with = requires(const Kernel kernel, const Handle... heap) {
  kernel(heap...);
};

/// Runs that kernel of the list whose request is of the named type, all launches at the same time
/// if there are several and the machine can. Waits; the milliseconds of each.
/// \throws invalid_argument if the list has none that can be called with these handles
template <class... Kernels, class... Handle>
std::vector<double> run(type_list<Kernels...>, const device& on, const std::type_info& wanted,
                        const std::vector<bench::launch_request>& launches, const Handle&... heap) {
  std::vector<simt::timed_launch> started;
  const auto try_one = [&]<class Kernel>(std::type_identity<Kernel>) {
    if constexpr (runs_with<Kernel, Handle...>) {
      if (!started.empty() || typeid(request_of<Kernel>) != wanted) return;
      if (launches.size() > 1) on.synchronize();  // queues do not wait for what was queued here
      for (const bench::launch_request& one : launches) {
        const Kernel kernel{*static_cast<const request_of<Kernel>*>(one.request)};
        const device queue = launches.size() > 1 ? on.queue() : on;
        simt::grid shape = simt::grid::covering(one.threads, one.threads_per_block);
        shape.shared_bytes = one.shared_bytes;
        started.push_back(queue.start(shape, bound<Kernel, Handle...>{heap..., kernel}));
      }
    }
  };
  (try_one(std::type_identity<Kernels>{}), ...);
  if (started.empty()) throw invalid_argument(std::string("no such kernel here: ") + wanted.name());
  std::vector<double> ms;
  for (const simt::timed_launch& one : started) ms.push_back(one.ms());
  on.synchronize();
  return ms;
}

/// The kernels of several lists.
template <class... Lists>
struct joined;
template <class First>
struct joined<First> {
  using type = First;
};
template <class First, class Second, class... Rest>
struct joined<First, Second, Rest...>
    : joined<decltype(First::append(std::declval<Second>())), Rest...> {};

}  // namespace lanes
WARPHEAP_END_NAMESPACE
