// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests of lanes that call together become one block. On the CPU model they are one group.
#include "any_schedule.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"
#include "small.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(xmalloc_coalescing, a_warp_shares_one_block) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  auto pieces = take(heap, 16, 32);
  ASSERT_EQ(pieces.size(), 32u);
  for (std::ptrdiff_t i = 0; i < 32; ++i) {
    EXPECT_EQ(pieces[static_cast<std::size_t>(i)], pieces[0] + 32 * i);
  }
  EXPECT_EQ(heap.stats().blocks_in_use, 32u);
  EXPECT_EQ(heap.stats().bytes_in_use, 2048u);
  std::byte* const last = pieces.back();
  pieces.pop_back();
  give(heap, pieces);
  EXPECT_EQ(heap.stats().blocks_in_use, 1u);
  EXPECT_EQ(heap.stats().bytes_in_use, 2048u) << "the last piece keeps the parent";
  give(heap, {last});
  EXPECT_EQ(heap.stats().bytes_in_use, 0u);
  expect_whole(heap);
}

TEST(xmalloc_coalescing, ends_at_256_bytes) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  auto pieces = take(heap, 255, 2);
  EXPECT_EQ(heap.stats().bytes_in_use, 1024u) << "one block of the second class";
  give(heap, pieces);
  pieces = take(heap, 256, 2);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(heap.stats().bytes_in_use, 1024u) << "two of the first";
  EXPECT_NE(heap.ref().manager().parts().memory().unit_of(pieces[0]),
            heap.ref().manager().parts().memory().unit_of(pieces[1]));
  give(heap, pieces);
  expect_whole(heap);
}

TEST(xmalloc_coalescing, a_team_that_is_too_large_is_halved) {
  const heap<xmalloc<>> heap(machine(), 4_MiB);
  const auto pieces = take(heap, 255, 32);
  EXPECT_EQ(pieces.size(), 32u);
  EXPECT_EQ(heap.stats().blocks_in_use, 32u);
  EXPECT_EQ(heap.stats().bytes_in_use, 2 * 8192u);
  give(heap, pieces);
  expect_whole(heap);
}

TEST(xmalloc_coalescing, a_lane_alone_has_a_block_of_its_own) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  std::byte* const block = take_one(heap, 1);
  EXPECT_EQ(heap.stats().bytes_in_use, 512u);
  give(heap, {block});
  expect_whole(heap);
}

TEST(xmalloc_coalescing, lanes_ask_alone_when_there_is_no_room_for_all) {
  const heap<xmalloc<>> heap(machine(), 64_KiB);
  const auto all = take_all(heap, 1, 1);
  ASSERT_GT(all.size(), 4u);
  give(heap, {all[0], all[1], all[2]});
  const auto few = take(heap, 200, 8);
  EXPECT_FALSE(few.empty());
  give(heap, few);
  give(heap, {all.begin() + 3, all.end()});
  expect_whole(heap);
}

TEST(xmalloc_coalescing, a_piece_that_is_freed_twice_counts_once) {
  const heap<xmalloc<>> heap(machine(), 1_MiB);
  const auto pieces = take(heap, 16, 2);
  ASSERT_EQ(pieces.size(), 2u);
  give(heap, {pieces[0]});
  give(heap, {pieces[0]});
  EXPECT_EQ(heap.stats().blocks_in_use, 1u);
  give(heap, {pieces[1]});
  expect_whole(heap);
}

// Two lanes free the last pieces of a parent together, and one of them gives it back for both.
TEST(xmalloc_handed_on, who_gets_a_parent_sees_what_each_owner_of_a_piece_has_done) {
  const rubbish memory(12_KiB);
  const small all(memory.all(), machine_of(1), {});
  std::array<void*, 2> pieces{};
  const auto my_piece = [&]() -> void*& {
    return pieces.at(static_cast<std::size_t>(simt::lane_id()));
  };
  machine().launch({1, 2}, [&] {
    if (simt::lane_id() == 0) all.format(0, 1);
    simt::warp().sync();
    my_piece() = all.malloc(16);
  });
  machine().launch({1, 1}, [&] {
    for (const std::size_t bytes : {112, 48}) {
      while (all.malloc(bytes) != nullptr) {
      }
    }
  });
  const std::vector<std::byte> before = memory.contents();
  std::uint32_t done[2] = {};
  int reused = 0;
  bool is_missed = false;
  simt::explorer warps({2, 2}, 100'000);
  const auto begin = [&] {
    std::copy(before.begin(), before.end(), memory.all().base);
    std::fill_n(done, 2, 0u);
    is_missed = false;
  };
  const auto lane = [&] {
    if (simt::block_rank() == 0) {
      simt::atomic_ref(done[simt::lane_id()]).store(1, simt::order::relaxed);
      all.free(my_piece());
      return;
    }
    if (simt::lane_id() != 0) return;
    for (int tries = 0; tries < 20; ++tries) {
      if (all.malloc(112) == nullptr) continue;
      ++reused;
      for (std::uint32_t& each : done) {
        is_missed |= simt::atomic_ref(each).load(simt::order::relaxed) == 0;
      }
      return;
    }
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(warps, schedules, begin, lane, [&] { return is_missed; });
  EXPECT_GT(reused, 100);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
