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

/// All that is free lies in one chunk: a bin of free blocks, and one that has a block in use. A
/// lane frees that while another one looks for a page, or for a bin of another size, and reclaims.
/// What it cannot give back because the first one is not done is not forgotten.
class freed_while_reclaimed : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit freed_while_reclaimed(const any_setup& how) : heap_world(uncounted(how)) {
    heap.run_quietly([&] {
      std::vector<std::byte*> small(blocks);
      for (std::byte*& one : small) one = heap.take(bytes);
      while (heap.take(page) != nullptr) {
      }
      last_ = small.back();
      small.pop_back();
      for (std::byte* const one : small) heap.give(one);
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    heap.adopt(last_, bytes);
    wanted_ = seed % 2 == 0 ? page : bytes / 2;
    got_ = nullptr;
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(last_);
    } else {
      got_ = heap.take(wanted_);
    }
  }

  std::string verdict() {
    std::string wrong = heap.problem();
    heap.run_quietly([&] {
      give(got_);
      if (heap.take(page) == nullptr) wrong = "null, and a whole chunk is free";
    });
    return wrong.empty() ? heap.problem() : wrong;
  }

 private:
  static constexpr std::uint32_t page = 100;
  static constexpr std::uint32_t bytes = 32;
  static constexpr std::size_t blocks = 6;  // a bin and a half

  /// The state in which schedules begin has a block that a lane frees.
  static any_setup uncounted(any_setup how) {
    how.counts = false;
    return how;
  }

  std::byte* last_ = nullptr;
  std::uint32_t wanted_ = page;
  std::byte* got_ = nullptr;
};

template <class M>
std::vector<named_case> whole_again_cases() {
  const any_setup bins = few_bins<M>(6144);
  return {case_of<whole_again>("whole_again", bins, 2048u),
          case_of<whole_again>("nodes_whole_again", any_setup(few_nodes<M>()), 1024u),
          case_of<reclaimed_for_all>("reclaimed_for_all", bins),
          case_of<freed_while_reclaimed>("freed_while_reclaimed", bins)};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
