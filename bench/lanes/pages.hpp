// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <concepts>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// A manager that hands out numbered pages, counts the steps of its search for one, and says how
/// many pages a step looks at and how it searches.
template <class M>
concept hands_out_pages = requires(const M m, std::uint32_t* steps) {
  { m.page_count() } -> std::convertible_to<std::uint32_t>;
  { m.counting(steps).take_page() } -> std::convertible_to<std::uint32_t>;
  m.give_page(*steps);
  { M::word_bits } -> std::convertible_to<int>;
  { M::search } -> std::convertible_to<const char*>;
};

}  // namespace lanes
WARPHEAP_END_NAMESPACE
