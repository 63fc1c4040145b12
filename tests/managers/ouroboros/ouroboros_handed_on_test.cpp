// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane asks and frees for all that call with it. What each of them gets is as if it had called
// alone.
#include "any_schedule.hpp"
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr std::uint64_t schedules = WARPHEAP_TEST_SANITIZED ? 500 : 6000;

/// Chunks with pages of 16 bytes and so many sizes in all, each twice the one before.
template <int Sizes>
using chunks_of = ouroboros<ouroboros_config{.queue = queue_kind::static_array,
                                             .item = item_kind::chunks,
                                             .smallest_page = 16,
                                             .queues = Sizes,
                                             .second_queues = 0}>;

/// Chunks of 64 bytes, which change their page size when they are free.
using small_chunks = chunks_of<3>;

// A full heap. Two lanes free two whole chunks, or one of them frees both. Then both ask for pages
// of another size, which each chunk has for both of them.
TEST(ouroboros_handed_on, lanes_that_have_freed_chunks_get_pages_of_these) {
  const rubbish memory(16_KiB);
  const small_chunks all(memory.all(), machine().properties(), {});
  std::byte* mine[2] = {};
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    while (auto* const chunk = static_cast<std::byte*>(all.malloc(64))) {
      mine[0] = mine[1];
      mine[1] = chunk;
    }
  });
  const std::vector<std::byte> full = memory.contents();
  std::uint64_t runs = 0;
  bool is_refused = false;
  simt::explorer warp({1, 2}, 20'000);
  const auto begin = [&] {
    std::copy(full.begin(), full.end(), memory.all().base);
    ++runs;
  };
  const auto lane = [&] {
    const bool frees_both = runs / 6 % 2 == 0;
    const auto number = static_cast<std::size_t>(simt::lane_id());
    if (!frees_both) {
      all.free(mine[number]);
    } else if (number == 1) {
      for (std::byte* const chunk : mine) all.free(chunk);
    }
    const bool is_served = all.malloc(16) != nullptr;
    if (!is_served && (number == 1 || !frees_both)) is_refused = true;
  };
  expect_in_schedules(warp, schedules, begin, lane, [&] { return is_refused; });
}

/// Chunks of 512 bytes with 32 pages: enough for a warp, whose leader takes them for all.
using wide_chunks = chunks_of<6>;

TEST(ouroboros_handed_on, a_page_comes_with_all_that_was_done_before_it_was_freed) {
  const rubbish memory(64_KiB);
  const wide_chunks all(memory.all(), machine().properties(), {});
  std::vector<std::byte*> pages;
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    while (auto* const page = static_cast<std::byte*>(all.malloc(16))) pages.push_back(page);
  });
  std::sort(pages.begin(), pages.end());
  const std::vector<std::byte> full = memory.contents();
  std::uint32_t written[2] = {};
  bool is_old = false;
  simt::explorer warps({2, 2}, 100'000);
  const auto begin = [&] {
    std::copy(full.begin(), full.end(), memory.all().base);
    std::fill_n(written, 2, 0u);
  };
  const auto lane = [&] {
    const auto number = static_cast<std::size_t>(simt::lane_id());
    if (simt::block_rank() == 1) {
      simt::atomic_ref(written[number]).store(1, simt::order::relaxed);
      all.free(pages[number]);
      return;
    }
    for (int tries = 0; tries < 20; ++tries) {
      const void* const got = all.malloc(16);
      if (got == nullptr) continue;
      std::uint32_t& by_its_owner = written[got == pages[0] ? 0 : 1];
      if (simt::atomic_ref(by_its_owner).load(simt::order::relaxed) == 0) is_old = true;
      break;
    }
  };
  expect_in_schedules(warps, schedules, begin, lane, [&] { return is_old; });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
