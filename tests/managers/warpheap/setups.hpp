// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "growth_cases.hpp"
#include "manager_cases.hpp"

#include "warpheap/managers/warpheap/warpheap.hpp"

#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Chunks of 256 bytes, words of three slots, fewer than a group has lanes.
inline constexpr warpheap_config small_chunks{
    .smallest_chunk = 256, .largest_chunk = 256, .word_slots = 3, .lenient_visits = 1};

/// Eight chunks or so, and sizes that are slots of one class, of another, and large blocks.
template <class M>
setup<M> few_chunks() {
  return {.region_bytes = 12 * 1024, .sizes = {60, 16, 128, 256}, .exact = false};
}

/// 62 chunks at first, so that what is added begins in one word of the pool's tree and ends in the
/// next one.
template <class M>
setup<M> growing_chunks() {
  return {.region_bytes = 36 * 1024,
          .options = {.initial_bytes = 62 * 256},
          .sizes = {60, 16, 128, 256},
          .exact = false};
}

template <class M>
std::vector<named_case> all_cases() {
  std::vector<named_case> cases = manager_cases(few_chunks<M>());
  for (named_case& one : growth_cases(growing_chunks<M>())) cases.push_back(std::move(one));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
