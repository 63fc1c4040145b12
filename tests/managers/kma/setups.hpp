// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// Superblocks of 64 slots, which take two words, and of which the queue keeps one.
template <class M>
setup<M> wide_kma() {
  return {.region_bytes = 4096, .sizes = {16}, .holds = {2 * 64}};
}

/// Two blocks are left of a superblock, with bits in different words. Two lanes free them, and the
/// second one takes the superblock for a single block, of which the bit is in the first word.
class freed_in_two_words : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit freed_in_two_words(const any_setup& how) : heap_world(uncounted(how)) {
    heap.run_quietly([this] {
      std::vector<std::byte*> all;
      while (std::byte* const block = heap.take(bytes)) all.push_back(block);
      std::sort(all.begin(), all.end());
      freed_[0] = all[slots - 1];
      freed_[1] = all[0];
      for (std::size_t i = 1; i < slots - 1; ++i) heap.give(all[i]);
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    for (std::byte* const block : freed_) heap.adopt(block, bytes);
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    give(freed_[rank]);
    if (rank == 0) return;
    // At first the one that the queue has kept.
    for (int round = 0; round < 2; ++round) give(heap.take(slots * bytes));
  }

 private:
  static constexpr std::uint32_t bytes = 16;
  static constexpr std::uint32_t slots = 64;

  std::byte* freed_[2] = {};
};

template <class M>
std::vector<named_case> wide_kma_cases() {
  return {case_of<freed_in_two_words>("freed_in_two_words", any_setup(wide_kma<M>()))};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
