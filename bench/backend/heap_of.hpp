// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/backend/catalog.hpp"
#include "bench/host/machine.hpp"
#include "bench/kernel_list.hpp"
#include "bench/lanes/kernel.hpp"
#include "bench/lanes/pages.hpp"
#include "bench/lanes/resources.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/warp_heaps_as_blocks.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

template <usable_manager M>
bench::manager_info info_of() {
  bench::manager_info info = describe(M::about, scope_of<M>);
  if constexpr (lanes::hands_out_pages<M>) {
    info.numbered_pages = bench::page_search{M::word_bits, M::search};
    info.claims.emplace_back("numbered_pages", true);
  }
  return info;
}

/// A heap of manager `M` behind the interface of the cases.
template <block_manager M>
class heap_of final : public bench::test_heap {
 public:
  heap_of(const device& on, std::unique_ptr<heap<M>> made)
      : test_heap(pages_of(*made)), device_(on), heap_(std::move(made)) {}

  static std::unique_ptr<test_heap> open(const device& on, const bench::heap_settings& settings) {
    return std::make_unique<heap_of>(
        on, std::make_unique<heap<M>>(on, settings.heap_bytes, options_of(settings)));
  }

  void reset() override {
    heap_->reset();
    device_.synchronize();
  }

  bench::heap_state state() const override {
    const heap_stats found = heap_->stats();
    return {found.blocks_in_use, found.bytes_in_use, heap_->validate().violations.size(),
            found.largest_block};
  }

 private:
  std::vector<double> run(const std::type_info& kernel,
                          const std::vector<bench::launch_request>& launches) override {
    return lanes::run(kernels{}, device_, kernel, launches, heap_->ref());
  }

  static std::uint32_t pages_of([[maybe_unused]] const heap<M>& of) {
    if constexpr (lanes::hands_out_pages<M>) {
      return of.ref().manager().page_count();
    } else {
      return 0;
    }
  }

  static typename M::options options_of([[maybe_unused]] const bench::heap_settings& settings) {
    typename M::options chosen{};
    if constexpr (page_manager<M>) {
      chosen.page_bytes = settings.page_bytes;
    }
    return chosen;
  }

  device device_;
  std::unique_ptr<heap<M>> heap_;
};

/// What the cases allocate from: the manager itself, or blocks over its warp heaps.
template <usable_manager M>
struct blocks_of : std::type_identity<M> {};
template <usable_manager M>
requires(warp_heap_manager<M> && !block_manager<M>) struct blocks_of<M>
    : std::type_identity<warp_heaps_as_blocks<M>> {
};

template <usable_manager M>
catalog_entry entry_of() {
  using blocks = typename blocks_of<M>::type;
  return {info_of<M>(), heap_of<blocks>::open,
          lanes::resources_of<typename heap<blocks>::ref_type>};
}

}  // namespace backend
WARPHEAP_END_NAMESPACE
