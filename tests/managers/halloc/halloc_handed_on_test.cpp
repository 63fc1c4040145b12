// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane counts for all that free with it. What each of them has freed is there for it
// afterwards.
#include "any_schedule.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
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
  void* got = nullptr;
  simt::explorer warp({1, 2}, 20'000);
  const auto begin = [&] {
    std::copy(full.begin(), full.end(), memory.all().base);
    got = nullptr;
  };
  const auto lane = [&] {
    const auto number = static_cast<std::size_t>(simt::lane_id());
    all.free(blocks[number]);
    if (number == 1) got = all.malloc(bytes);
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(warp, schedules, begin, lane, [&] { return got == nullptr; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
