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

template <gallatin_config Config>
struct manager_traits<gallatin<Config>> : default_traits<gallatin<Config>> {
  // Reuse is partial, for a hole waits until all of its neighbours are free as well. Then it ends.
  static constexpr bool whole_when_emptied = true;
};

#if WARPHEAP_CUDA_MODEL
template <>
struct manager_traits<builtin> : default_traits<builtin> {
  static constexpr std::uint64_t most_fill_blocks = 2048;
  static constexpr std::uint64_t most_churn_threads = 128;
};
#endif

template <>
struct manager_traits<checked_rw_malloc> : default_traits<checked_rw_malloc> {
  // With what the layer adds, a unit.
  static constexpr std::size_t refill_bytes = 256 - 48;
};

template <>
struct manager_traits<counted_rw_malloc> : default_traits<counted_rw_malloc> {
  static constexpr std::size_t refill_bytes = 256 - 16;
};

template <>
struct manager_traits<wide_rw_malloc> : default_traits<wide_rw_malloc> {
  static constexpr std::size_t refill_bytes = 64;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
