// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "managers/bulk_allocator/setups.hpp"

#include "warpheap/core/random.hpp"

#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Lanes take and free all sizes at random, and free everything in the end. Then all of it can be
/// one block: no slab, and no pair of buddies, that was kept has been forgotten.
class whole_again : public heap_world {
 public:
  whole_again(const any_setup& how, std::uint32_t largest) : heap_world(how), largest_(largest) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    seed_ = seed;
  }

  void lane() {
    random_sequence random(mix64(seed_) ^ mix64(simt::thread_rank() + 1));
    std::byte* held[3] = {};
    for (int step = 0; step < 10; ++step) {
      std::byte*& slot = held[random.below(3)];
      give(slot);
      slot = random.below(4) == 0 ? nullptr : heap.take(heap.size(random.next()));
    }
    for (std::byte* block : held) give(block);
  }

  std::string verdict() {
    std::string wrong = heap.problem();
    if (!wrong.empty()) return wrong;
    heap.run_quietly([this, &wrong] {
      if (heap.take(largest_) == nullptr) wrong = "null, and the whole heap was free";
    });
    return wrong.empty() ? heap.problem() : wrong;
  }

 private:
  std::uint32_t largest_;
  std::uint64_t seed_ = 0;
};

/// Whatever is free lies in a chunk whose blocks are all free, and which is kept. Two lanes find no
/// page: one of them reclaims the chunk, the other waits for that, and both are served. In weak
/// memory the other may see semaphores as they were before the first one split what it has taken.
class reclaimed_for_all : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit reclaimed_for_all(const any_setup& how) : heap_world(how) {
    heap.run_quietly([this] {
      std::byte* const small = heap.take(16);
      while (heap.take(page) != nullptr) {
      }
      heap.give(small);
    });
    heap.keep_state();
  }

  void lane() {
    if (heap.take(page) == nullptr && !simt::runtime::memory_is_weak()) {
      heap.blocks().note("null, and a whole chunk was free");
    }
  }

 private:
  static constexpr std::uint32_t page = 100;
};

inline std::vector<named_case> whole_again_cases(const any_setup& how, std::uint32_t largest) {
  return {case_of<whole_again>("whole_again", how, largest),
          case_of<reclaimed_for_all>("reclaimed_for_all", how)};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
