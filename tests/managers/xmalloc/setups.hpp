// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "manager_world.hpp"
#include "managers/xmalloc/small.hpp"

#include "warpheap/core/hash.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Superblocks of three Basicblocks of 64 or of 128 bytes, lists of two. Coalesced requests have a
/// piece or two.
using small_xmalloc = test::small;

inline constexpr std::size_t xmalloc_bytes = 12 * 1024 + 384;
/// Behind 5120 bytes, and before 128 for the count of Superblocks, there are 116 units of 64.
inline constexpr int xmalloc_units = (static_cast<int>(xmalloc_bytes) - 5120 - 128) / 64;

/// Superblocks of three blocks, and Memoryblocks of what they leave. A Superblock begins with 40
/// bytes, a Memoryblock with 16.
constexpr int blocks_in(int superblock_units, int memoryblock_units, int units = xmalloc_units) {
  return units / superblock_units * 3 + units % superblock_units / memoryblock_units;
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
          .exact = false,
          .freed = {reuse_at_rest::of_any_size,
                    "other numbers may fit: free Superblocks stay where they are until a trim"}};
}

/// Blocks that share a parent, and those that do not. A lane alone has no others to share with: of
/// what such lanes had in a block of the second class, it gets nothing while another block of that
/// Superblock is in use.
template <class M>
setup<M> coalesced_requests() {
  constexpr int small = blocks_in(units_of_first, 1);
  return {.region_bytes = xmalloc_bytes,
          .sizes = {56, 16, 32, 112},
          .holds = {blocks_in(units_of_first, 2), small, small, blocks_in(units_of_second, 2)},
          .exact = false,
          .freed = {reuse_at_rest::of_any_size_once_empty,
                    "a lane alone asks for a block of its own class, others shared a larger one"}};
}

/// Bytes of a Memoryblock of three units.
inline constexpr std::uint32_t three_units = 3 * 64 - 16;

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

/// All memory is in use but a Superblock, in which a Memoryblock for each lane has room. While one
/// lane returns it, it is neither counted as unused nor among the free Memoryblocks: only the trim
/// tells the other lane that there is something.
class superblock_for_both : public heap_world {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit superblock_for_both(const any_setup& how) : heap_world(uncounted(how)) {
    heap.run_quietly([&] {
      std::byte* const of_superblock = heap.take(heap.size(1));
      while (heap.take(three_units) != nullptr) {
      }
      heap.give(of_superblock);
    });
    heap.keep_state();
  }

  void lane() {
    if (heap.take(three_units) == nullptr) {
      heap.blocks().note("null, and there was room for both");
    }
  }
};

/// Where no whole Superblock fits: all memory but some gaps of three units, which are a Superblock
/// of two blocks each, is in use.
class gaps_world : public heap_world {
 public:
  /// \param how_many gaps, no two of which touch
  gaps_world(const any_setup& how, int how_many) : heap_world(uncounted(how)) {
    std::vector<std::byte*> all;
    heap.run_quietly([&] {
      while (std::byte* const block = heap.take(three_units)) all.push_back(block);
      for (int i = 0; i < how_many; ++i) heap.give(all[static_cast<std::size_t>(2 * i)]);
    });
  }
};

/// There are two small blocks for each lane, in small Superblocks that lanes split.
class small_superblocks : public gaps_world {
 public:
  explicit small_superblocks(const any_setup& how) : gaps_world(how, case_lanes) {
    heap.keep_state();
  }

  void lane() {
    for (int round = 0; round < 2; ++round) {
      std::byte* const block = heap.take(heap.size(0));
      if (block == nullptr) heap.blocks().note("null, and there is a small Superblock for each");
      give(block);
    }
  }
};

/// All gaps are free Superblocks. Some lanes take blocks of them and free those, while trims return
/// them for others.
class small_superblocks_are_trimmed : public gaps_world {
 public:
  explicit small_superblocks_are_trimmed(const any_setup& how) : gaps_world(how, case_lanes) {
    std::vector<std::byte*> all;
    heap.run_quietly([&] {
      while (std::byte* const block = heap.take(heap.size(0))) all.push_back(block);
      for (std::byte* const block : all) heap.give(block);
    });
    heap.keep_state();
  }

  void lane() {
    const bool wants_gap = simt::thread_rank() % 2 == 0;
    for (int round = 0; round < 2; ++round) {
      std::byte* const block = heap.take(wants_gap ? three_units : heap.size(0));
      if (block == nullptr) heap.blocks().note("null, and there is a gap for each");
      give(block);
    }
  }
};

/// Lanes take Memoryblocks together, out of one, and free them in rows, or one before the other.
class rows_of_memoryblocks : public heap_world {
 public:
  using heap_world::heap_world;

  void lane() {
    const std::uint64_t drawn = lane_seed();
    std::byte* const first = heap.take(heap.size(2));
    std::byte* const second = heap.take(drawn % 4 == 0 ? three_units : heap.size(2));
    if (first == nullptr || second == nullptr) {
      heap.blocks().note("null, and most of the heap was free");
    }
    give(drawn % 8 < 4 ? first : second);
    give(drawn % 8 < 4 ? second : first);
  }

  std::string verdict() {
    int memoryblocks = 0;
    heap.run_quietly([&] {
      while (heap.take(heap.size(2)) != nullptr) ++memoryblocks;
    });
    if (memoryblocks != xmalloc_units / 4) return "memory has not come together again";
    return heap.problem();
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

inline std::vector<named_case> cases_of_free_superblocks(const any_setup& how) {
  return {case_of<superblocks_for_others>("superblocks_are_free", how),
          case_of<superblock_for_both>("superblock_for_both", how)};
}

inline named_case rows(const any_setup& how) {
  return case_of<rows_of_memoryblocks>("rows_of_memoryblocks", how);
}

inline std::vector<named_case> cases_of_gaps(const any_setup& how) {
  return {case_of<small_superblocks>("small_superblocks", how),
          case_of<small_superblocks_are_trimmed>("small_superblocks_are_trimmed", how)};
}

inline std::vector<named_case> refill_cases(const any_setup& how) {
  return {case_of<crowded_refills>("refills_are_crowded", how),
          case_of<third_refill>("third_refill", how)};
}

inline std::vector<named_case> cases_of_single_requests(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  for (named_case& one : cases_of_free_superblocks(how)) cases.push_back(std::move(one));
  for (named_case& one : cases_of_gaps(how)) cases.push_back(std::move(one));
  cases.push_back(rows(how));
  for (named_case& one : refill_cases(how)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
