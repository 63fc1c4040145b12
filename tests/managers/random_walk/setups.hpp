// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Walks are given up after a few probes, so that the full search is explored as well.
inline constexpr std::uint32_t short_walk_ppm = 500'000;

/// 52 pages of 16 bytes: words of 32 and of 64 bits both end in a tail of bits without pages.
template <class M>
setup<M> small_pages() {
  // The search and up to 52 flags, or their bits, take no more than the 256 bytes before the first
  // page.
  constexpr int pages = (1088 - 256) / 16;
  return {.region_bytes = 1088,
          .options = {.page_bytes = 16},
          .sizes = {16, 8, 12},
          .holds = {pages, pages, pages}};
}

/// The same, given up by the paper's rule: of some 500 probes. Null then promises nothing.
inline constexpr std::uint32_t statistical_ppm = 10'000;

template <class M>
setup<M> statistical_pages() {
  setup<M> how = small_pages<M>();
  how.exact = false;
  return how;
}

/// 43 units: more than a word of 32 and less than one of 64. Runs of two units, and bundles.
template <class M>
setup<M> small_runs() {
  // The search and the bitmaps take less than the two units before the first one.
  return {.region_bytes = 64 * 45, .sizes = {64, 16, 128, 24}, .holds = {43, 43, 43 / 2, 43}};
}

/// 70 units in three words, and runs that mostly lie in two of them. There is no room for all runs
/// that are asked for.
template <class M>
setup<M> long_runs() {
  constexpr int units = 70;
  // Runs lie where a walk finds room. Beside each, a unit less than a run may be left.
  const auto runs = [](int length) -> block_count {
    const int least = (units - (length - 1) + 2 * length - 2) / (2 * length - 1);
    return {least, units / length};
  };
  return {.region_bytes = 64 * (2 + units),
          .sizes = {64, 64 * 14, 64 * 9, 64 * 20},
          .holds = {units, runs(14), runs(9), runs(20)},
          .fits = false};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
