// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "manager_world.hpp"
#include "managers/xmalloc/small.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Superblocks of three Basicblocks of 64 or of 128 bytes, lists of two. Coalesced requests have a
/// piece or two.
using small_xmalloc = test::small;

inline constexpr std::size_t xmalloc_bytes = 12 * 1024 + 128;
/// Behind 4736 bytes, and before 192 for the end and what belongs to it, there are 117 units of 64.
inline constexpr int xmalloc_units = (static_cast<int>(xmalloc_bytes) - 4736 - 192) / 64;

/// Superblocks of three blocks, and Memoryblocks of what they leave. A Superblock begins with 40
/// bytes, a Memoryblock with 16.
constexpr int blocks_in(int superblock_units, int memoryblock_units) {
  return xmalloc_units / superblock_units * 3 +
         xmalloc_units % superblock_units / memoryblock_units;
}
/// Of 64 and 128 bytes.
inline constexpr int units_of_first = (40 + 3 * 64 + 63) / 64;
inline constexpr int units_of_second = (40 + 3 * 128 + 63) / 64;

/// Blocks of both classes and Memoryblocks, none of them coalesced.
template <class M>
setup<M> single_requests() {
  return {.region_bytes = xmalloc_bytes,
          .sizes = {48, 112, 200},
          .holds = {blocks_in(units_of_first, 1), blocks_in(units_of_second, 2), xmalloc_units / 4},
          .exact = false};
}

/// Blocks that share a parent, and those that do not. A lane alone has no others to share with.
template <class M>
setup<M> coalesced_requests() {
  constexpr int small = blocks_in(units_of_first, 1);
  return {.region_bytes = xmalloc_bytes,
          .sizes = {56, 16, 32, 112},
          .holds = {blocks_in(units_of_first, 2), small, small, blocks_in(units_of_second, 2)},
          .exact = false};
}

/// All memory is in free Superblocks, which a trim returns one by one: each lane gets a
/// Memoryblock.
class superblocks_for_others : public heap_world {
 public:
  explicit superblocks_for_others(const any_setup& how) : heap_world(how) {
    heap.fill_quietly();
    heap.empty_quietly();
    heap.keep_state();
  }

  void lane() {
    if (heap.take(heap.size(2)) == nullptr) {
      heap.blocks().note("null, and there was a free Superblock for each");
    }
  }
};

/// More warps than may refill at once, in an empty heap: those that are refused look again for as
/// long as it takes, each lane of them.
class crowded_refills : public heap_world {
 public:
  static constexpr simt::grid shape{4, 2};

  using heap_world::heap_world;

  void lane() {
    if (heap.take(heap.size(0)) == nullptr) {
      heap.blocks().note("null, and most of the heap was free");
    }
  }
};

/// Two warps may refill at once, and each splits a Superblock. A third one comes later, and finds
/// what one of them has left.
class third_refill : public heap_world {
 public:
  static constexpr simt::grid shape{3, 1};

  using heap_world::heap_world;

  void lane() { heap.take(heap.size(0)); }

  std::string verdict() {
    int memoryblocks = 0;
    heap.run_quietly([&] {
      while (heap.take(heap.size(2)) != nullptr) ++memoryblocks;
    });
    if (memoryblocks < (xmalloc_units - 2 * units_of_first) / 4) return "three were split";
    return heap.problem();
  }
};

inline named_case superblocks_are_free(const any_setup& how) {
  return case_of<superblocks_for_others>("superblocks_are_free", how);
}

inline std::vector<named_case> refill_cases(const any_setup& how) {
  return {case_of<crowded_refills>("refills_are_crowded", how),
          case_of<third_refill>("third_refill", how)};
}

inline std::vector<named_case> cases_of_single_requests(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  cases.push_back(superblocks_are_free(how));
  for (named_case& one : refill_cases(how)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
