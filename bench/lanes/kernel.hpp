// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a kernel of the survey is: a trivially copyable type with a member `in` of the type of its
/// request, and a call operator for lanes. A kernel that uses a heap is called with the heap's
/// handle and may constrain what it asks of it; one that needs none is called with nothing. A list
/// of them is instantiated for every manager.

#include "warpheap/core/config.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/core/type_list.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>
#include <string>
#include <typeinfo>
#include <utility>

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

/// Runs that kernel of the list whose request is of the named type.
/// \throws invalid_argument if the list has none that can be called with these handles
template <class... Kernels, class... Handle>
double run(type_list<Kernels...>, const device& on, std::uint64_t threads,
           const std::type_info& wanted, const void* request, const Handle&... heap) {
  double ms = -1;
  const auto try_one = [&]<class Kernel>(std::type_identity<Kernel>) {
    if constexpr (runs_with<Kernel, Handle...>) {
      if (ms >= 0 || typeid(request_of<Kernel>) != wanted) return;
      const Kernel kernel{*static_cast<const request_of<Kernel>*>(request)};
      ms = on.time(simt::grid::covering(threads), bound<Kernel, Handle...>{heap..., kernel});
    }
  };
  (try_one(std::type_identity<Kernels>{}), ...);
  if (ms < 0) throw invalid_argument(std::string("no such kernel here: ") + wanted.name());
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
