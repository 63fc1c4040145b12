// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a step of a walk is worth when lanes race for the pages that it has seen.
#include "machine_of.hpp"
#include "rubbish.hpp"

#include "warpheap/managers/random_walk/bitmap_pages.hpp"
#include "warpheap/managers/random_walk/rw.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using random_walk::bitmap_pages;
using random_walk::search_kind;

constexpr std::size_t page_bytes = 256;
constexpr int warps = 3;
constexpr int lanes = 8;

/// A manager of one word, of fewer than 32 pages, in memory that lives as long.
template <random_walk::bitmap_config Config>
class one_word {
 public:
  one_word()
      : pages_(region{memory_->all.data(), bytes}, machine_of(2, warps * lanes),
               {.page_bytes = page_bytes}) {
    pages_.format(0, 1);
  }

  const bitmap_pages<Config>& pages() const { return pages_; }

 private:
  static constexpr std::size_t bytes = 31 * page_bytes;

  struct alignas(256) space {
    std::array<std::byte, bytes> all;
  };
  std::unique_ptr<space> memory_ = std::make_unique<space>();
  bitmap_pages<Config> pages_;
};

/// Every lane takes a page, all lanes of all warps out of the same word, which has enough.
template <random_walk::bitmap_config Config>
void expect_one_step() {
  simt::explorer explorer({warps, lanes});
  for (const auto how : {simt::strategy::sticky, simt::strategy::uniform, simt::strategy::pct}) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      const one_word<Config> heap;
      ASSERT_GE(heap.pages().page_count(), static_cast<std::uint32_t>(warps * lanes));
      ASSERT_LE(heap.pages().page_count(), 32u);
      std::array<std::uint32_t, warps * lanes> steps{};
      std::array<std::uint32_t, warps * lanes> got{};
      const auto counting = heap.pages().counting(steps.data());
      const auto outcome =
          explorer.run({how, seed}, [&] { got[simt::thread_rank()] = counting.take_page(); });
      SCOPED_TRACE("strategy " + std::to_string(static_cast<int>(how)) + ", seed " +
                   std::to_string(seed));
      ASSERT_EQ(outcome.stuck, "");
      EXPECT_EQ(std::set(got.begin(), got.end()).size(), got.size());
      for (const std::uint32_t step : steps) ASSERT_EQ(step, 1u);
    }
  }
}

TEST(random_walk_steps, a_lane_that_loses_a_page_takes_another_of_the_same_word) {
  expect_one_step<random_walk::bitmap_config{.search = search_kind::independent}>();
}

TEST(random_walk_steps, a_team_makes_up_for_lost_pages_from_the_words_of_the_step) {
  expect_one_step<random_walk::bitmap_config{.search = search_kind::collaborative}>();
}

TEST(random_walk_steps, each_page_that_a_walk_draws_is_a_step) {
  simt::device_properties one_lane;
  one_lane.resident_threads = 1;
  const rubbish memory(16 * page_bytes);
  const rw<> pages(memory.all(), one_lane, {.page_bytes = page_bytes});
  std::uint32_t steps = 0;
  const auto outcome = simt::explorer({1, 1}).run({simt::strategy::sticky, 1}, [&] {
    pages.format(0, 1);
    const auto counting = pages.counting(&steps);
    EXPECT_NE(counting.take_page(), random_walk::no_page);
    EXPECT_EQ(steps, 1u) << "all pages were free";
    for (std::uint32_t taken = 1; taken < pages.page_count() - 1; ++taken) counting.take_page();
  });
  EXPECT_EQ(outcome.stuck, "");
  EXPECT_GT(steps, pages.page_count()) << "some were in use";
}

TEST(random_walk_steps, the_page_behind_the_last_one_is_a_step) {
  const one_word<random_walk::bitmap_config{.search = search_kind::clustered}> heap;
  std::array<std::uint32_t, warps * lanes> steps{};
  const auto counting = heap.pages().counting(steps.data());
  const auto outcome = simt::explorer({1, 1}).run({simt::strategy::sticky, 1}, [&] {
    for (std::uint32_t taken = 1; taken <= 3; ++taken) {
      counting.take_page();
      EXPECT_EQ(steps[0], taken);
    }
  });
  EXPECT_EQ(outcome.stuck, "");
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
