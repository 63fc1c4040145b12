// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "traits.hpp"
#include "variants.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <rw_malloc_config Config>
struct manager_traits<rw_malloc<Config>> : default_traits<rw_malloc<Config>> {
  // Larger blocks are runs of units, and where the first ones happen to lie decides how many fit.
  static constexpr std::size_t refill_bytes = Config.unit_bytes;
};

template <>
struct manager_traits<wide_rw_malloc> : default_traits<wide_rw_malloc> {
  static constexpr std::size_t refill_bytes = 64;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
