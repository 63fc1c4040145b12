// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane asks and frees for all that call with it. What each of them did and sees is as if it had
// called alone.
#include "any_schedule.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Segments of 512 bytes: four blocks of eight units of 16 bytes.
constexpr gallatin_config small_segments{.segment_bytes = 512,
                                         .smallest_slice = 16,
                                         .largest_slice = 64,
                                         .least_segments = 1,
                                         .buffer_share = 1};

// A full heap, but for six units of a block. Two lanes free the last two of them together. One of
// them takes the block again and leaves it in the slot, where two others have units of it.
TEST(gallatin_handed_on, a_unit_comes_with_all_that_others_did_before_they_freed_its_block) {
  constexpr std::size_t bytes = 16;
  const rubbish memory(16_KiB);
  const gallatin<small_segments> all(memory.all(), machine_of(1), {});
  std::byte* last[2] = {};
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    std::vector<std::byte*> got;
    while (auto* const one = static_cast<std::byte*>(all.malloc(bytes))) got.push_back(one);
    std::sort(got.begin(), got.end());
    for (std::size_t i = 2; i < 8; ++i) all.free(got[i]);
    std::copy_n(got.begin(), 2, last);
    EXPECT_EQ(all.malloc(bytes), nullptr);
  });
  const std::vector<std::byte> before = memory.contents();
  std::uint32_t written[2] = {};
  bool is_old = false;
  simt::explorer warps({2, 2}, 100'000);
  const auto begin = [&] {
    std::copy(before.begin(), before.end(), memory.all().base);
    std::fill_n(written, 2, 0u);
  };
  const auto lane = [&] {
    const auto number = static_cast<std::size_t>(simt::lane_id());
    if (simt::block_rank() == 1) {
      simt::atomic_ref(written[number]).store(1, simt::order::relaxed);
      all.free(last[number]);
      if (number == 0) all.malloc(bytes);
      return;
    }
    for (int tries = 0; tries < 20; ++tries) {
      if (all.malloc(bytes) == nullptr) continue;
      for (std::uint32_t& one : written) {
        if (simt::atomic_ref(one).load(simt::order::relaxed) == 0) is_old = true;
      }
      break;
    }
  };
  // Mistakes were met within a hundred.
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(warps, schedules, begin, lane, [&] { return is_old; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
