// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A heap whose manager is chosen by name while the program runs, as `malloc` and `free` of kernels
/// need it (docs/drop-in.md).

#include "warpheap/core/type_list.hpp"
#include "warpheap/default_manager.hpp"
#include "warpheap/malloc/selected_ref.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

WARPHEAP_BEGIN_NAMESPACE

/// What can be chosen; the first is the default. Each costs the code of its malloc and free in
/// every program that links them.
using malloc_managers = type_list<default_manager, gallatin<>>;

using malloc_ref = malloc_managers::apply<selected_ref>;

namespace detail {

template <class... Managers>
class selected_heap {
 public:
  using ref_type = selected_ref<Managers...>;

  static constexpr std::array<std::string_view, sizeof...(Managers)> names{Managers::about.name...};

  /// \param manager one of `names`; empty for the first
  /// \throws invalid_argument for another name; what `heap` throws
  selected_heap(const device& on, std::size_t bytes, std::string_view manager = {}) {
    if (manager.empty()) manager = names.front();
    const bool known = ((manager == Managers::about.name && !heap_.index() &&
                         (heap_.template emplace<heap<Managers>>(on, bytes), true)) ||
                        ...);
    if (!known) {
      std::string all;
      for (const std::string_view name : names)
        all += (all.empty() ? "" : ", ") + std::string(name);
      throw invalid_argument("unknown manager '" + std::string(manager) + "'; known are " + all);
    }
  }

  /// What lanes get. Valid as long as the heap is.
  ref_type ref() const {
    return visit([](const auto& made) { return ref_type(made.ref()); });
  }
  std::string_view manager() const {
    return visit([](const auto& made) {
      return std::string_view(std::remove_cvref_t<decltype(made)>::manager_type::about.name);
    });
  }
  const device& on() const {
    return *visit([](const auto& made) { return &made.on(); });
  }
  heap_stats stats() const {
    return visit([](const auto& made) { return made.stats(); });
  }
  std::size_t bytes() const {
    return visit([](const auto& made) { return made.bytes(); });
  }
  std::size_t largest_block() const {
    return visit([](const auto& made) { return made.largest_block(); });
  }

 private:
  template <class Visit>
  auto visit(const Visit& visitor) const {
    std::optional<decltype(visitor(std::get<1>(heap_)))> result;
    ((std::holds_alternative<heap<Managers>>(heap_)
          ? (result.emplace(visitor(std::get<heap<Managers>>(heap_))), void())
          : void()),
     ...);
    return *result;
  }

  std::variant<std::monostate, heap<Managers>...> heap_;
};

}  // namespace detail

/// Owns a heap of one of `malloc_managers`, chosen by its name.
using selected_heap = malloc_managers::apply<detail::selected_heap>;

WARPHEAP_END_NAMESPACE
