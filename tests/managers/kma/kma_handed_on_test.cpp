// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane counts for all that free with it. A superblock that becomes empty by that comes with all
// that each of them did before.
#include "any_schedule.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/kma/kma.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// The bits of a superblock's slots take two words.
constexpr kma_config two_words{.superblock_bytes = 1024, .least_block = 16};
constexpr std::size_t superblock = 1024;
constexpr std::size_t bytes = 16;
constexpr std::size_t slots = superblock / bytes;

// Two lanes free the last two blocks of a superblock together. The second one's bit is in a word
// that a request for the whole superblock does not touch. A third lane empties another superblock:
// the queue keeps the last one that it gets.
TEST(kma_handed_on, an_empty_superblock_comes_with_all_that_was_done_in_its_blocks) {
  const rubbish memory(8_KiB);
  const kma<two_words> all(memory.all(), machine_of(1), {});
  std::vector<std::byte*> blocks;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    while (auto* const one = static_cast<std::byte*>(all.malloc(bytes))) blocks.push_back(one);
  });
  ASSERT_GE(blocks.size(), 3 * slots);
  std::sort(blocks.begin(), blocks.end());
  std::byte* const last[]{blocks[0], blocks[slots - 1]};
  ASSERT_EQ(last[1] - last[0], superblock - bytes);
  std::byte* const of_another = blocks[slots];
  machine().launch({1, 1}, [&] {
    for (std::size_t i = 1; i < 2 * slots; ++i) {
      if (blocks[i] != last[1] && blocks[i] != of_another) all.free(blocks[i]);
    }
    EXPECT_EQ(all.malloc(superblock), nullptr);
  });
  const std::vector<std::byte> before = memory.contents();
  std::uint32_t written = 0;
  bool is_old = false;
  int met = 0;
  simt::explorer warps({3, 2}, 100'000);
  const auto begin = [&] {
    std::copy(before.begin(), before.end(), memory.all().base);
    written = 0;
  };
  const auto lane = [&] {
    const auto number = static_cast<std::size_t>(simt::lane_id());
    if (simt::block_rank() == 0) {
      if (number == 1) simt::atomic_ref(written).store(1, simt::order::relaxed);
      all.free(last[number]);
    } else if (number == 0 && simt::block_rank() == 1) {
      all.free(of_another);
    } else if (number == 0) {
      for (int tries = 0; tries < 20; ++tries) {
        if (all.malloc(superblock) != last[0]) continue;
        ++met;
        if (simt::atomic_ref(written).load(simt::order::relaxed) == 0) is_old = true;
        break;
      }
    }
  };
  constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 4000;
  expect_in_schedules(warps, schedules, begin, lane, [&] { return is_old; });
  EXPECT_GT(met, 0);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
