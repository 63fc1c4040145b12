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

/// Two superblocks are full of halves, of which some are freed, and the queue keeps a third one.
class halves_are_freed : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    for (std::byte* const block : freed_) heap.adopt(block, half);
  }

 protected:
  static constexpr std::uint32_t half = 512;

  /// \param blocks of the first superblock that are in use
  halves_are_freed(const any_setup& how, std::size_t blocks) : heap_world(uncounted(how)) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const block = heap.take(half)) all.push_back(block);
      std::sort(all.begin(), all.end());
      freed_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(blocks));
      for (std::size_t i = blocks; i < 2; ++i) heap.give(all[i]);
    });
    heap.keep_state();
  }

  /// Fills a superblock, twice: a queue that keeps one returns the other one last. Gives back all
  /// of the first, and one block of the second.
  void fill_twice(std::uint32_t bytes) {
    for (const bool last_time : {false, true}) {
      std::vector<std::byte*> blocks(2 * half / bytes);
      for (std::byte*& block : blocks) block = heap.take(bytes);
      if (last_time) blocks.resize(1);
      for (std::byte* const block : blocks) give(block);
    }
  }

  std::vector<std::byte*> freed_;
};

/// A lane frees the last block of a superblock, which others take and use in part before it goes
/// on: the set of its class has it then.
class emptied_and_taken : public halves_are_freed {
 public:
  explicit emptied_and_taken(const any_setup& how) : halves_are_freed(how, 1) {}

  void lane() {
    if (simt::thread_rank() == 0) return give(freed_[0]);
    fill_twice(half);
  }
};

/// A lane frees one of two blocks. Before the set of the class has the superblock, the other block
/// is freed, and the superblock is of another class.
class in_the_set_too_late : public halves_are_freed {
 public:
  explicit in_the_set_too_late(const any_setup& how) : halves_are_freed(how, 2) {}

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    give(freed_[rank]);
    if (rank == 0) {
      heap.take(half);
    } else {
      fill_twice(half / 2);
    }
  }
};

template <class M>
std::vector<named_case> wide_kma_cases() {
  const any_setup how(wide_kma<M>());
  return {case_of<freed_in_two_words>("freed_in_two_words", how),
          case_of<emptied_and_taken>("emptied_and_taken", how),
          case_of<in_the_set_too_late>("in_the_set_too_late", how)};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
