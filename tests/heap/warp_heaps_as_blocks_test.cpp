// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks over warp heaps: each warp has one, however its lanes come, and keeps it.
#include "conformance/reference/warp_arenas.hpp"
#include "device_array.hpp"
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/warp_heaps_as_blocks.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using arenas = warp_arenas<>;
using blocks = warp_heaps_as_blocks<arenas>;
static_assert(any_size_manager<blocks> && !warp_heap_manager<blocks>);
static_assert(!blocks::about.frees && blocks::about.reuse == memory_reuse::none);

/// Blocks of its warp heaps can be freed; those of all lanes cannot.
class freeing_arenas : public arenas {
 public:
  using arenas::arenas;
  static constexpr capabilities about = [] {
    capabilities more = arenas::about;
    more.frees = true;
    return more;
  }();
};

/// Every warp gets the same heap, and nothing is written to any block.
class one_arena_for_all : public arenas {
 public:
  using arenas::arenas;
  WARPHEAP_DEVICE warp_heap begin(const simt::group& /*lanes*/) const { return {1}; }
};

struct take_in_branches {
  handle<blocks> from;
  std::size_t bytes;
  void** taken;
  WARPHEAP_DEVICE void operator()() const {
    // Even and odd lanes come apart, and so do the blocks of the grid.
    if (simt::lane_id() % 2 == 0) simt::backoff(50);
    taken[simt::thread_rank()] = from.malloc(bytes);
  }
};

std::vector<void*> take(const heap<blocks>& from, std::uint32_t warps, std::size_t bytes) {
  const device_array<void*> taken(warps * 32);
  machine().launch({(warps + 1) / 2, warps == 1 ? 32u : 64u},
                   take_in_branches{from.ref(), bytes, taken.get()});
  return taken.read();
}

TEST(warp_heaps_as_blocks, a_warp_has_one_heap_in_all_launches) {
  const heap<blocks> heap(machine(), std::size_t{1} << 20);
  std::set<void*> distinct;
  for (int launch = 0; launch < 3; ++launch) {
    for (void* block : take(heap, 8, 64)) {
      ASSERT_NE(block, nullptr);
      EXPECT_TRUE(distinct.insert(block).second) << "a block was handed out twice";
    }
    EXPECT_EQ(heap.stats().blocks_in_use, 8u) << "warps have a heap each, and keep it";
  }
  EXPECT_TRUE(heap.validate().ok());
}

TEST(warp_heaps_as_blocks, offers_no_frees_even_where_warp_heaps_do) {
  EXPECT_FALSE(warp_heaps_as_blocks<freeing_arenas>::about.frees);
}

TEST(warp_heaps_as_blocks, a_warp_whose_heap_is_full_gets_null) {
  const heap<blocks> heap(machine(), std::size_t{1} << 20);
  EXPECT_EQ(take(heap, 1, arenas::arena_bytes / 32)[31] == nullptr, false);
  for (void* block : take(heap, 1, 16)) EXPECT_EQ(block, nullptr);
  EXPECT_EQ(heap.stats().failures, 32u);
}

TEST(warp_heaps_as_blocks, warps_without_a_heap_get_null_and_a_reset_helps) {
  heap<blocks> heap(machine(), std::size_t{3} << 14);
  const auto served = [&] {
    std::uint64_t count = 0;
    for (void* block : take(heap, 8, 16)) count += block != nullptr ? 1 : 0;
    return count;
  };
  EXPECT_EQ(served(), 2u * 32) << "there is memory for two arenas";
  heap.reset();
  EXPECT_EQ(heap.stats().blocks_in_use, 0u);
  EXPECT_EQ(served(), 2u * 32);
}

// The entry of a warp may be one of the last, and then those behind it are the first. Beside all of
// them, there is no place for the heap of another warp.
TEST(warp_heaps_as_blocks, as_many_warps_have_a_heap_as_there_are_entries) {
  constexpr std::uint32_t entries = 64;
  const rubbish memory(24_KiB);
  const warp_heaps_as_blocks<one_arena_for_all> all(memory.all(), machine().properties(), {});
  machine().launch({1, 1}, [&] { all.format(0, 1); });
  std::vector<void*> taken(entries + 1);
  machine().launch({entries + 1, 1}, [&] { taken[simt::block_rank()] = all.malloc(16); });
  EXPECT_EQ(std::count(taken.begin(), taken.end(), nullptr), 1);
  // Behind the entries is the word of the arena, which counts what is in use.
  const std::byte* const behind = memory.all().base + entries * 16 + 16;
  EXPECT_TRUE(memory.is_untouched_from(behind));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
