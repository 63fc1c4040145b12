// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

#include "warpheap/managers/random_walk/bitmap_pages.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

using few_pages = random_walk::bitmap_pages<random_walk::bitmap_config{
    .search = random_walk::search_kind::independent, .low_water_ppm = 500'000}>;

/// The manager that layers are explored over. Counts the frees that reach it.
class layer_base : public few_pages {
 public:
  using few_pages::few_pages;

  void free(void* block) const {
    // No atomic of the seam: it would be a switch point.
    frees.fetch_add(1, std::memory_order_relaxed);
    few_pages::free(block);
  }

  static inline std::atomic<std::uint64_t> frees{0};
};

/// Pages of 16 bytes and as many for the header, behind 256 for counts and words.
template <class Counted>
setup<Counted> counted_setup() {
  constexpr int pages = (2048 - 256) / (16 + 16);
  return {.region_bytes = 2048,
          .options = {.page_bytes = 16},
          .sizes = {16, 8, 12},
          .holds = {pages, pages, pages}};
}

/// Pages of 16 bytes for small blocks and of 32 for large ones, each behind 256 bytes. Half of the
/// heap is for the large ones, rounded down to a multiple of 256.
template <class WithLarge>
setup<WithLarge> large_setup() {
  constexpr int large = 4096 / 100 * 50 / 256 * 256;
  constexpr int small_pages = (4096 - large - 256) / 16;
  return {.region_bytes = 4096,
          .options = {.small = {.page_bytes = 16}, .large = {.page_bytes = 32}},
          .sizes = {16, 32, 8},
          .holds = {small_pages, (large - 256) / 32, small_pages}};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
