// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Superblocks of four slots of 16 bytes, or two, or one, and buckets for both multiprocessors.
/// With 2176 bytes before them, 36 superblocks take the whole region. The two queues keep one each.
template <class M>
setup<M> small_kma() {
  return {.region_bytes = 4480, .sizes = {16, 24, 64}, .holds = {34 * 4, 34 * 2, 34}};
}

/// As many free slots as lanes, and each lane takes one at a time. So there is always one for a
/// lane that asks, wherever the superblock that it is in may be on its way to.
template <simt::grid Shape>
class one_for_each : public heap_world {
 public:
  static constexpr simt::grid shape = Shape;

  /// \param which of the sizes
  one_for_each(const any_setup& how, std::uint64_t which) : heap_world(how), which_(which) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const block = heap.take(heap.size(which_))) all.push_back(block);
      for (std::size_t i = 0; i < shape.blocks * shape.threads_per_block; ++i) heap.give(all[i]);
    });
    heap.keep_state();
  }

  void lane() {
    for (int round = 0; round < 3; ++round) give(must_take(heap.size(which_)));
  }

 private:
  std::uint64_t which_;
};

inline std::vector<named_case> kma_cases(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  cases.push_back(case_of<one_for_each<two_warps>>("one_for_each", how, 0));
  cases.push_back(case_of<one_for_each<two_warps>>("one_pair_for_each", how, 1));
  cases.push_back(case_of<one_for_each<two_warps>>("one_superblock_for_each", how, 2));
  // All in one superblock.
  cases.push_back(case_of<one_for_each<simt::grid{2, 1}>>("one_pair_for_two", how, 1));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
