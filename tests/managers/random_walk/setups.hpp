// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Walks are given up after a few probes, so that the full search is explored as well.
inline constexpr std::uint32_t short_walk_ppm = 500'000;

/// 36 pages of 16 bytes: words of 32 and of 64 bits both end in a tail of bits without pages.
template <class M>
setup<M> small_pages() {
  return {.region_bytes = 1088, .options = {.page_bytes = 16}, .sizes = {16, 8, 12}};
}

/// 43 units: more than a word of 32 and less than one of 64. Runs of two units, and bundles.
template <class M>
setup<M> small_runs() {
  return {.region_bytes = 64 * 45, .sizes = {64, 16, 128, 24}};
}

/// 70 units in three words, and runs that mostly lie in two of them. There is no room for all runs
/// that are asked for.
template <class M>
setup<M> long_runs() {
  return {.region_bytes = 64 * 72, .sizes = {64, 64 * 14, 64 * 9, 64 * 20}, .exact = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
