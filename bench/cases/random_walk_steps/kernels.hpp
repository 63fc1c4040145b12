// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cases/random_walk_steps/requests.hpp"
#include "bench/lanes/kernel.hpp"
#include "bench/lanes/pages.hpp"

#include <type_traits>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::random_walk_steps {

/// The manager behind a handle.
template <class Handle>
using manager_of = std::remove_cvref_t<decltype(std::declval<const Handle&>().manager())>;

struct take_pages {
  bench::page_taking in;
  template <class Handle>
  requires hands_out_pages<manager_of<Handle>> WARPHEAP_DEVICE void operator()(
      const Handle& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.threads) return;
    in.steps[i] = 0;
    in.pages[i] = heap.manager().counting(in.steps).take_page();
  }
};

struct give_pages {
  bench::page_giving in;
  template <class Handle>
  requires hands_out_pages<manager_of<Handle>> WARPHEAP_DEVICE void operator()(
      const Handle& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.threads && in.pages[i] != bench::no_page) heap.manager().give_page(in.pages[i]);
  }
};

using kernels = type_list<take_pages, give_pages>;

}  // namespace lanes::random_walk_steps
WARPHEAP_END_NAMESPACE
