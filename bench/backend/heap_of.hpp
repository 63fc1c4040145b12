// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/backend/catalog.hpp"
#include "bench/host/machine.hpp"
#include "bench/kernel_list.hpp"
#include "bench/lanes/kernel.hpp"
#include "bench/lanes/pages.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/random_walk/bitmap.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

constexpr const char* name_of(random_walk::search_kind search) {
  switch (search) {
    case random_walk::search_kind::collaborative:
      return "collaborative";
    case random_walk::search_kind::clustered:
      return "clustered";
    case random_walk::search_kind::independent:
      break;
  }
  return "independent";
}

constexpr const char* name_of(allocation_scope scope) {
  switch (scope) {
    case allocation_scope::thread:
      return "thread";
    case allocation_scope::warp:
      return "warp";
    case allocation_scope::object:
      return "object";
    case allocation_scope::page:
      break;
  }
  return "page";
}

constexpr const char* name_of(memory_reuse reuse) {
  switch (reuse) {
    case memory_reuse::all:
      return "all";
    case memory_reuse::partial:
      return "partial";
    case memory_reuse::none:
      break;
  }
  return "none";
}

/// A number of `list`, where 0 stands for none.
inline bench::field_value or_null(std::uint64_t value) {
  return value == 0 ? bench::field_value() : bench::field_value(value);
}

template <device_manager M>
bench::manager_info info_of() {
  constexpr const capabilities& about = M::about;
  bench::manager_info info;
  info.name = about.name;
  info.largest_block = about.largest_block;
  info.alignment = about.alignment;
  info.frees = about.frees;
  info.fixed_pages = about.scope == allocation_scope::page;
  info.whole_warps = about.scope == allocation_scope::warp;
  info.objects = about.scope == allocation_scope::object;
  if constexpr (lanes::hands_out_pages<M>) info.word_bits = M::word_bits;
  if constexpr (requires { M::search; }) {
    info.search = name_of(M::search);
  } else if constexpr (lanes::hands_out_pages<M>) {
    info.search = name_of(random_walk::search_kind::independent);
  }
  info.about = {{"family", std::string(about.family)},
                {"title", std::string(about.title)},
                {"authors", std::string(about.authors)},
                {"venue", std::string(about.venue)},
                {"year", or_null(static_cast<std::uint64_t>(about.year))},
                {"doi", std::string(about.doi)}};
  info.claims = {{"largest_block", or_null(about.largest_block)},
                 {"alignment", std::uint64_t{about.alignment}},
                 {"frees", about.frees},
                 {"scope", std::string(name_of(about.scope))},
                 {"reuse", std::string(name_of(about.reuse))},
                 {"growth", about.growth},
                 {"numbered_pages", info.word_bits != 0}};
  return info;
}

/// A heap of manager `M` behind the interface of the cases.
template <device_manager M>
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

 private:
  double run(std::uint64_t threads, const std::type_info& kernel, const void* request) override {
    return lanes::run(kernels{}, device_, threads, kernel, request, heap_->ref());
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
    if constexpr (M::about.scope == allocation_scope::page) {
      chosen.page_bytes = settings.page_bytes;
    }
    return chosen;
  }

  device device_;
  std::unique_ptr<heap<M>> heap_;
};

template <device_manager M>
catalog_entry entry_of() {
  return {info_of<M>(), heap_of<M>::open};
}

}  // namespace backend
WARPHEAP_END_NAMESPACE
