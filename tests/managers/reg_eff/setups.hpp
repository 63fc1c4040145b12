// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "managers/reg_eff/world.hpp"
#include "run_cases.hpp"

#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Room for what 24 requests of each size need, and no more than 80 blocks.
template <class M>
setup<M> small_counter() {
  // Behind a counter of 128 bytes.
  constexpr int room = 1408 - 128;
  setup<M> how{.region_bytes = 1408, .sizes = {16, 32, 24}};
  // Where the counter wraps there is no end.
  if (how.ends) how.holds = {room / 16, room / 32, room / 32};
  return how;
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

/// As `small_list`, one chunk in the beginning, rests in halves down to 4 blocks, and frees that
/// leave merging to searches.
using one_chunk = reg_eff<reg_eff_config{.presplit_bytes = 0, .halves_from = 4, .merges = false}>;

/// Behind offsets, operations, proof, search, tree and starts there are 118 granules, and 8 less
/// for each offset more. A block and the header of the next chunk take a whole number of them.
/// \param trees of chunks of 16, 8 and 8, and four times 4 granules, into which the heap is split
template <class M>
setup<M> small_chunks(int offsets, int trees) {
  const int granules = 118 - 8 * (offsets - 1);
  // A chunk that has less than twice what is needed is not split. So each has as many blocks as
  // fit, and what is left is part of the last one. Chunks that are too small merge with the next.
  const auto blocks = [=](int need) {
    const int least = need > 4 ? 8 : 4;
    const int of_tree = 16 / need + 2 * (8 / need) + 16 / least * (least / need);
    return trees * of_tree + (granules - trees * 48) / need;
  };
  return {.region_bytes = 2688,
          .sizes = {16, 40, 88},
          .holds = {blocks(2), blocks(3), blocks(6)},
          .freed = {reuse_at_rest::of_any_size,
                    "fewer may fit: chunks stay in pieces that merge as far as a request needs"}};
}

/// With cases about chunks that merge, and about searches that find nothing.
template <class M>
std::vector<named_case> list_cases(int offsets = 1, int trees = 1) {
  const any_setup how = small_chunks<M>(offsets, trees);
  auto cases = manager_cases(how);
  add_run_cases(how, 16, 3, cases);
  cases.push_back(case_of<one_each>("one_each", how));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
