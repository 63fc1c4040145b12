// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "managers/bulk_allocator/setups.hpp"

#include "warpheap/core/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Lanes take and free all sizes at random, and free everything in the end. Then all of it can be
/// one block: no slab, and no pair of buddies, that was kept has been forgotten.
class whole_again : public heap_world {
 public:
  whole_again(const any_setup& how, std::uint32_t largest) : heap_world(how), largest_(largest) {}

  void lane() {
    random_sequence random(lane_seed());
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
class freed_while_reclaimed : public freeing_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit freed_while_reclaimed(const any_setup& how) : freeing_world(how, bytes) {
    heap.run_quietly([&] {
      std::vector<std::byte*> small(blocks);
      for (std::byte*& one : small) one = heap.take(bytes);
      while (heap.take(page) != nullptr) {
      }
      freed_ = small.back();
      small.pop_back();
      for (std::byte* const one : small) heap.give(one);
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    freeing_world::reset(seed);
    wanted_ = seed % 2 == 0 ? page : bytes / 2;
    got_ = nullptr;
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(freed_);
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

  std::uint32_t wanted_ = page;
  std::byte* got_ = nullptr;
};

/// Half of the heap is free. A lane frees the other half, which makes a node of the highest order,
/// while another one looks from order to order for a page. Weak memory: as in `reclaimed_for_all`.
class merged_into_the_top : public freeing_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit merged_into_the_top(const any_setup& how) : freeing_world(how, half) {
    heap.run_quietly([&] {
      std::vector<std::byte*> halves;
      while (std::byte* const one = heap.take(half)) halves.push_back(one);
      while (heap.take(page) != nullptr) {
      }
      std::sort(halves.begin(), halves.end());
      heap.give(halves[1]);
      freed_ = halves[0];
    });
    heap.keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(freed_);
    } else if (heap.take(page) == nullptr && !simt::runtime::memory_is_weak()) {
      heap.blocks().note("null, and half of the heap was free");
    }
  }

 private:
  static constexpr std::uint32_t page = 100;
  static constexpr std::uint32_t half = 400;
};

/// Three lanes of each of two warps want blocks of a size, and the heap has a single bin of four:
/// both warps set out to get a bin, and the one that comes too late finds what the other leaves.
class last_bin_for_two : public heap_world {
 public:
  static constexpr simt::grid shape{2, 3};

  explicit last_bin_for_two(const any_setup& how) : heap_world(how) {
    heap.run_quietly([&] {
      std::vector<std::byte*> all;
      while (std::byte* const one = heap.take(bytes)) all.push_back(one);
      while (heap.take(bytes / 2) != nullptr) {
      }
      // They come bin by bin. The first bin that becomes whole is kept, the second one goes back to
      // its chunk.
      for (int i = 0; i < 2 * blocks; ++i) heap.give(all[i]);
      for (int i = 0; i < blocks; ++i) heap.take(bytes);
      // The last one in vain: nothing is left to be reclaimed then.
      while (heap.take(page) != nullptr) {
      }
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    std::fill_n(got_, 6, nullptr);
  }

  void lane() {
    got_[simt::thread_rank()] = heap.take(bytes);
    if (simt::thread_rank() == 0) weak_ = simt::runtime::memory_is_weak();
  }

  std::string verdict() {
    const auto served = 6 - std::count(got_, got_ + 6, nullptr);
    if (served != blocks && !weak_) {
      return std::to_string(served) + " lanes were served, and there were four blocks";
    }
    return heap.problem();
  }

 private:
  static constexpr std::uint32_t page = 100;
  static constexpr std::uint32_t bytes = 32;
  static constexpr int blocks = 4;

  std::byte* got_[6] = {};
  bool weak_ = false;
};

/// Nothing is free. Four lanes free two pairs of buddies, and each may find that another one keeps
/// it from merging them. A fifth one wants a pair, and reclaims: what is left is not forgotten.
class buddies_freed_at_once : public heap_world {
 public:
  static constexpr simt::grid shape{5, 1};

  explicit buddies_freed_at_once(const any_setup& how) : heap_world(uncounted(how)) {
    heap.run_quietly([&] {
      std::byte* const pairs[]{heap.take(pair), heap.take(pair)};
      while (heap.take(page) != nullptr) {
      }
      for (std::byte* const both : pairs) heap.give(both);
      for (std::byte*& one : buddies_) one = heap.take(page);
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    for (std::byte* const one : buddies_) heap.adopt(one, page);
    got_ = nullptr;
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < 4) {
      give(buddies_[rank]);
    } else {
      got_ = heap.take(pair);
    }
  }

  std::string verdict() {
    std::string wrong = heap.problem();
    heap.run_quietly([&] {
      give(got_);
      for (int i = 0; i < 2; ++i) {
        if (heap.take(pair) == nullptr) wrong = "null, and a pair of pages is free";
      }
    });
    return wrong.empty() ? heap.problem() : wrong;
  }

 private:
  static constexpr std::uint32_t page = 100;
  static constexpr std::uint32_t pair = 200;

  std::byte* buddies_[4] = {};
  std::byte* got_ = nullptr;
};

/// A bin has one free block, and nothing else is free. A lane frees a node of pages, while two
/// others want blocks: one of them makes bins of the node. The other one, whose unit is of the
/// first bin, may come to a new bin even before its units are there. What it writes there must come
/// after all accesses to the node.
class bin_that_is_new : public freeing_world {
 public:
  static constexpr simt::grid shape{3, 1};

  explicit bin_that_is_new(const any_setup& how) : freeing_world(how, node) {
    heap.run_quietly([&] {
      freed_ = heap.take(node);
      std::byte* const first = heap.take(block);
      for (const std::uint32_t bytes : {block, block / 2, page}) {
        while (heap.take(bytes) != nullptr) {
        }
      }
      heap.give(first);
    });
    heap.keep_state();
  }

  void lane() {
    if (simt::thread_rank() == 0) {
      give(freed_);
    } else {
      heap.take(block);
    }
  }

 private:
  static constexpr std::uint32_t block = 32;
  static constexpr std::uint32_t page = 100;
  static constexpr std::uint32_t node = 400;
};

/// Two blocks are left of a bin, and enough others are free for it to go back to its chunk once
/// these are, too. Nothing but the bin serves blocks of another size, which the second lane wants.
/// The first one may not have said yet that its block is free for others of its size.
class bin_that_goes_back : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit bin_that_goes_back(const any_setup& how) : heap_world(uncounted(how)) {
    heap.run_quietly([this] {
      // They come bin by bin, the first one of a bin from its front.
      std::vector<std::byte*> all;
      while (std::byte* const one = heap.take(bytes)) all.push_back(one);
      for (const std::uint32_t other : {bytes / 2, page}) {
        while (heap.take(other) != nullptr) {
        }
      }
      // All of a bin, which is kept, three blocks of the next one, and two of the last one.
      for (const int i : {0, 1, 2, 3, 4, 5, 6, 9, 10}) heap.give(all[i]);
      freed_[0] = all[8];
      freed_[1] = all[11];
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    for (std::byte* const one : freed_) heap.adopt(one, bytes);
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    give(freed_[rank]);
    if (rank == 1) heap.take(bytes / 2);
  }

 private:
  static constexpr std::uint32_t page = 100;
  static constexpr std::uint32_t bytes = 32;

  std::byte* freed_[2] = {};
};

/// Lanes that free while another one needs what they free.
template <class M>
std::vector<named_case> freed_at_once_cases() {
  const any_setup bins = few_bins<M>(6272, 31);
  return {case_of<buddies_freed_at_once>("buddies_freed_at_once", any_setup(few_nodes<M>())),
          case_of<bin_that_is_new>("bin_that_is_new", bins),
          case_of<bin_that_goes_back>("bin_that_goes_back", bins)};
}

template <class M>
std::vector<named_case> whole_again_cases() {
  const any_setup bins = few_bins<M>(6272, 31);
  std::vector<named_case> cases{
      case_of<whole_again>("whole_again", bins, 2048u),
      case_of<whole_again>("nodes_whole_again", any_setup(few_nodes<M>()), 1024u),
      case_of<reclaimed_for_all>("reclaimed_for_all", bins),
      case_of<freed_while_reclaimed>("freed_while_reclaimed", bins),
      case_of<merged_into_the_top>("merged_into_the_top", any_setup(few_nodes<M>())),
      case_of<last_bin_for_two>("last_bin_for_two", bins)};
  for (named_case& one : freed_at_once_cases<M>()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
