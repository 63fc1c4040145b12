// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane counts for all that free with it, and one looks for all that search with it. What each of
// them finds is as if it had called alone.
#include "any_schedule.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/halloc/full_search.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/halloc/places.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Slabs of eight blocks of 512 bytes.
constexpr halloc_config small_slabs{
    .largest_slab = 4096, .smallest_slab = 4096, .slabs = 1, .probes = 4};

TEST(halloc_handed_on, a_lane_finds_what_it_has_freed_together_with_others) {
  constexpr std::size_t bytes = 512;
  const rubbish memory(24_KiB);
  const halloc<small_slabs> all(memory.all(), machine().properties(), {});
  std::vector<void*> blocks;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    while (void* const block = all.malloc(bytes)) blocks.push_back(block);
  });
  // The last slab that was opened is the head. These two are in another one.
  const auto slab_of = [&](void* block) {
    return (static_cast<std::byte*>(block) - all.first_slab()) / 4096;
  };
  ASSERT_GE(blocks.size(), 16u);
  ASSERT_EQ(slab_of(blocks[0]), slab_of(blocks[1]));
  ASSERT_NE(slab_of(blocks[0]), slab_of(blocks.back()));
  const std::vector<std::byte> full = memory.contents();
  simt::explorer warp({1, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= (WARPHEAP_TEST_SANITIZED ? 500 : 4000); ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    void* got = nullptr;
    const auto outcome = warp.run(any_schedule(seed), [&] {
      const auto lane = static_cast<std::size_t>(simt::lane_id());
      all.free(blocks[lane]);
      if (lane == 1) got = all.malloc(bytes);
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_NE(got, nullptr) << seed;
  }
}

// Two places come back to a full slab, in one word. Lanes that search together find both, though
// one of them looks at the slab: in weak memory, the other one may still think that they are in use.
TEST(halloc_handed_on, a_lane_sees_what_is_free_in_a_slab_that_another_one_looked_at) {
  using namespace halloc_parts;
  using shape_type = geometry<small_slabs>;
  const std::uint32_t size = shape_type::size_for(512);
  const std::uint32_t span = shape_type::span(size);
  shape_type shape(4096);
  shape.set_slabs(1);
  const rubbish memory(24_KiB);
  region_cursor cursor = memory.cursor();
  const places<small_slabs> all(shape, cursor);
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    for (std::uint32_t i = 0; i < shape.blocks(size); ++i) {
      ASSERT_NE(full_search<small_slabs>(all, size).run(), nullptr);
    }
    all.table().known().end_all();  // no lane has asked for more yet
  });
  const std::vector<std::byte> full = memory.contents();
  simt::explorer warps({2, 2}, 20'000);
  for (std::uint64_t seed = 1; seed <= (WARPHEAP_TEST_SANITIZED ? 500 : 4000); ++seed) {
    std::copy(full.begin(), full.end(), memory.all().base);
    std::uint32_t given = 0;
    bool is_served[2] = {};
    const auto outcome = warps.run(any_schedule(seed), [&] {
      const simt::atomic_ref flag(given);
      const auto lane = static_cast<std::size_t>(simt::lane_id());
      if (simt::block_rank() == 1) {
        if (lane != 0) return;
        for (const std::uint32_t chunk : {0u, span}) {
          all.table().map(0).put_back(chunk, all.table().map(0).clear_length(chunk));
        }
        all.table().subtract(0, 2 * span);
        flag.store(1, simt::order::relaxed);
        return;
      }
      while (flag.load(simt::order::relaxed) == 0) simt::backoff(50);
      // A lane that comes apart from the other one may have to wait for its search first.
      for (int rounds = 0; rounds < 2 && !is_served[lane]; ++rounds) {
        is_served[lane] = full_search<small_slabs>(all, size).run() != nullptr;
      }
    });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_TRUE(is_served[0] && is_served[1]) << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
