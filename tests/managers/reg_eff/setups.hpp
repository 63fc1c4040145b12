// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "managers/reg_eff/worlds.hpp"
#include "run_cases.hpp"

#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Room for what 24 requests of each size need, and no more than 80 blocks.
template <class M>
setup<M> small_counter() {
  return {.region_bytes = 1408, .sizes = {16, 32, 24}};
}

/// With a case at the end of the ring.
template <class M>
std::vector<named_case> ring_cases() {
  auto cases = manager_cases(small_counter<M>());
  cases.push_back(case_of<ring>("ring", any_setup(small_counter<M>())));
  return cases;
}

/// Chunks of four granules and more. A block of the first size takes two.
template <memory_offsets Offsets, int HeaderWords>
using small_list =
    reg_eff<reg_eff_config{.offsets = Offsets, .header_words = HeaderWords, .presplit_bytes = 64}>;

/// As `small_list`, one chunk in the beginning, and frees that leave merging to searches.
using one_chunk = reg_eff<reg_eff_config{.presplit_bytes = 0, .merges = false}>;

template <class M>
setup<M> small_chunks(std::vector<int> holds = {}) {
  return {.region_bytes = 2688, .sizes = {16, 40, 88}, .holds = std::move(holds)};
}

/// With cases about chunks that merge, and about searches that find nothing.
template <class M>
std::vector<named_case> list_cases(std::vector<int> holds = {}) {
  const any_setup how = small_chunks<M>(std::move(holds));
  auto cases = manager_cases(how);
  add_run_cases(how, 16, 3, cases);
  cases.push_back(case_of<one_each>("one_each", how));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
