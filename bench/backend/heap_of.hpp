// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/backend/catalog.hpp"
#include "bench/backend/describe.hpp"
#include "bench/host/machine.hpp"
#include "bench/lanes/requests.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/random_walk/bitmap_pages.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

/// A manager that hands out numbered pages and counts the steps of its search.
template <class M>
concept hands_out_pages = requires(const M m, std::uint32_t* steps) {
  { m.page_count() } -> std::convertible_to<std::uint32_t>;
  { m.counting(steps).take_page() } -> std::convertible_to<std::uint32_t>;
  m.give_page(*steps);
  { M::word_bits } -> std::convertible_to<int>;
};

constexpr bench::walk_kind walk_of(random_walk::search_kind search) {
  switch (search) {
    case random_walk::search_kind::collaborative:
      return bench::walk_kind::collaborative;
    case random_walk::search_kind::clustered:
      return bench::walk_kind::clustered;
    case random_walk::search_kind::independent:
      break;
  }
  return bench::walk_kind::independent;
}

template <block_manager M>
bench::manager_info info_of() {
  bench::manager_info info = described(M::about);
  switch (scope_of<M>) {
    case allocation_scope::thread:
      info.scope = bench::manager_scope::thread;
      break;
    case allocation_scope::warp:
      info.scope = bench::manager_scope::warp;
      break;
    case allocation_scope::object:
      info.scope = bench::manager_scope::object;
      break;
    case allocation_scope::page:
      info.scope = bench::manager_scope::page;
      break;
  }
  if constexpr (hands_out_pages<M>) info.word_bits = M::word_bits;
  if constexpr (requires { M::search; }) info.walk = walk_of(M::search);
  return info;
}

/// A heap of manager `M` behind the interface of the cases.
template <block_manager M>
class heap_of final : public bench::test_heap {
  using handle = typename heap<M>::ref_type;

 public:
  heap_of(const device& on, const bench::heap_settings& settings)
      : heap_(on, settings.heap_bytes, options_of(settings)), info_(info_of<M>()) {}

  const bench::manager_info& manager() const override { return info_; }

  void reset() override {
    heap_.reset();
    on().synchronize();
  }

  double allocate(const bench::request_batch& batch, std::uint64_t* addresses) override {
    return on().time(covering(batch.threads),
                     lanes::allocate<handle>{heap_.ref(), batch, addresses});
  }

  double release(std::uint64_t count, const bench::selection& which,
                 std::uint64_t* addresses) override {
    return on().time(covering(count), lanes::release<handle>{heap_.ref(), count, which, addresses});
  }

  void allocate_clocked([[maybe_unused]] const bench::request_batch& batch,
                        [[maybe_unused]] std::uint64_t* addresses,
                        [[maybe_unused]] std::uint32_t* ticks) override {
    if constexpr (simt::has_clock) {
      run(batch.threads, lanes::allocate_clocked<handle>{heap_.ref(), batch, addresses, ticks});
    } else {
      throw invalid_argument("lanes of this machine cannot look at a clock");
    }
  }

  void release_clocked([[maybe_unused]] std::uint64_t count,
                       [[maybe_unused]] const std::uint64_t* addresses,
                       [[maybe_unused]] std::uint32_t* ticks) override {
    if constexpr (simt::has_clock) {
      run(count, lanes::release_clocked<handle>{heap_.ref(), count, addresses, ticks});
    } else {
      throw invalid_argument("lanes of this machine cannot look at a clock");
    }
  }

  double churn(const bench::churn_request& request, bench::churn_report* report) override {
    return on().time(covering(request.threads), lanes::churn<handle>{heap_.ref(), request, report});
  }

  std::uint32_t page_count() const override {
    if constexpr (hands_out_pages<M>) {
      return heap_.ref().manager().page_count();
    } else {
      throw no_pages();
    }
  }

  void take_pages([[maybe_unused]] std::uint64_t threads, [[maybe_unused]] std::uint32_t* pages,
                  [[maybe_unused]] std::uint32_t* steps) override {
    if constexpr (hands_out_pages<M>) {
      auto counting = heap_.ref().manager().counting(steps);
      run(threads, lanes::take_pages<decltype(counting)>{counting, threads, pages, steps});
    } else {
      throw no_pages();
    }
  }

  void give_pages([[maybe_unused]] std::uint64_t threads,
                  [[maybe_unused]] const std::uint32_t* pages) override {
    if constexpr (hands_out_pages<M>) {
      run(threads, lanes::give_pages<M>{heap_.ref().manager(), threads, pages});
    } else {
      throw no_pages();
    }
  }

 private:
  static invalid_argument no_pages() {
    return invalid_argument(std::string(M::about.name) + " does not hand out numbered pages");
  }

  static typename M::options options_of([[maybe_unused]] const bench::heap_settings& settings) {
    typename M::options chosen{};
    if constexpr (page_manager<M>) {
      chosen.page_bytes = settings.page_bytes;
    }
    return chosen;
  }

  static simt::grid covering(std::uint64_t threads) { return simt::grid::covering(threads); }

  const device& on() const { return heap_.on(); }

  template <class Functor>
  void run(std::uint64_t threads, const Functor& functor) const {
    on().launch(covering(threads), functor);
    on().synchronize();
  }

  heap<M> heap_;
  bench::manager_info info_;
};

template <block_manager M>
catalog_entry entry_of() {
  return {info_of<M>(),
          [](const device& on,
             const bench::heap_settings& settings) -> std::unique_ptr<bench::test_heap> {
            return std::make_unique<heap_of<M>>(on, settings);
          }};
}

}  // namespace backend
WARPHEAP_END_NAMESPACE
