// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which part serves a size; and one lane looks for all that ask with it: what each of them has
// freed is there for it.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// All memory is in use but a Superblock, once its only block is freed. The lane that frees it asks
// together with a lane before it, which has seen nothing of that and looks for both.
TEST(xmalloc_handed_on, a_lane_that_looks_for_others_finds_what_they_have_freed) {
  constexpr std::size_t bytes = 3 * 64 - 16;
  const rubbish memory(12_KiB);
  const small all(memory.all(), machine_of(1), {});
  void* block = nullptr;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    block = all.malloc(112);
    while (all.malloc(bytes) != nullptr) {
    }
  });
  ASSERT_NE(block, nullptr);
  const std::vector<std::byte> full = memory.contents();
  std::uint32_t is_freed = 0;
  bool is_served = false;
  simt::explorer warp({1, 2}, 20'000);
  const auto begin = [&] {
    std::copy(full.begin(), full.end(), memory.all().base);
    is_freed = 0;
    is_served = false;
  };
  const auto lane = [&] {
    const simt::atomic_ref freed(is_freed);
    if (simt::lane_id() == 1) {
      all.free(block);
      freed.store(1, simt::order::relaxed);
    }
    while (freed.load(simt::order::relaxed) == 0) simt::backoff(1);
    if (all.malloc(bytes) != nullptr) is_served = true;
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(warp, schedules, begin, lane, [&] { return !is_served; });
}

TEST(xmalloc_supply, the_largest_size_of_a_superblock_is_taken_from_one) {
  using sizes = xmalloc_parts::geometry<small_config>;
  const heap<small> heap(machine(), 8 * 1024);
  const auto parts = heap.ref().manager().parts();
  const auto kind_of = [&](std::size_t bytes) {
    std::byte* block = nullptr;
    machine().launch({1, 1}, [&] { block = parts.take(bytes); });
    EXPECT_NE(block, nullptr);
    return xmalloc_parts::block_word(xmalloc_parts::word_before(block)).kind();
  };
  EXPECT_EQ(kind_of(sizes::largest_basic), xmalloc_parts::block_kind::basic);
  EXPECT_EQ(kind_of(sizes::largest_basic + 1), xmalloc_parts::block_kind::memory);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
