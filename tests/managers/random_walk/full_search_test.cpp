// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages whose numbers and addresses need more than 31 and 32 bits. No memory stands behind them.
#include "warpheap/managers/random_walk/full_search.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using random_walk::no_page;

/// What `search_pages` finds if `free` is the only free page of `pages`, and the lane gets the
/// slice that holds it.
std::uint32_t found_by_search(std::uint32_t pages, std::uint32_t free) {
  random_walk::shared_rounds search;
  std::uint32_t found = no_page;
  simt::explorer one_lane({1, 1}, 4'000'000);
  const auto outcome = one_lane.run({simt::strategy::sticky, 1}, [&] {
    search.format();
    // Others have examined everything up to that slice, which would take minutes here.
    bool served = false;
    std::uint32_t each = 0;
    search.search(
        simt::coalesced(nullptr), pages, [&] { return served ? 0u : 1u; },
        [&](std::uint32_t first, std::uint32_t count) {
          each = first == 0 ? count : each;
          served = std::uint64_t{first} + count + each > free;
          return random_walk::run_left{};
        });
    found = random_walk::search_pages(
        search, simt::coalesced(nullptr), pages, no_page,
        [=](std::uint32_t page) { return page == free; },
        [=](std::uint32_t page) { return page == free ? page : no_page; });
  });
  EXPECT_EQ(outcome.stuck, "");
  return found;
}

TEST(far_pages, are_found_by_the_full_search) {
  constexpr std::uint32_t half = 1u << 31;
  for (const std::uint32_t free : {half, half + 65'535, UINT32_MAX - 2}) {
    EXPECT_EQ(found_by_search(UINT32_MAX - 1, free), free);
  }
  EXPECT_EQ(found_by_search(half + 1, half), half);
}

// What lies behind the last one is not a flag.
TEST(full_search, examines_each_word_once_and_none_behind_them) {
  for (const std::uint32_t words : {1u, 4u, 5u, 11u}) {
    std::vector<int> examined(words + 1);
    random_walk::shared_rounds search;
    simt::explorer one_lane({1, 1});
    const auto outcome = one_lane.run({simt::strategy::sticky, 1}, [&] {
      search.format();
      const auto examine = [&](std::uint32_t word) { return ++examined.at(word) == 0; };
      const auto take = [](std::uint32_t /*word*/) { return no_page; };
      const simt::group team = simt::coalesced(nullptr);
      EXPECT_EQ(random_walk::search_pages(search, team, words, no_page, examine, take), no_page);
    });
    EXPECT_EQ(outcome.stuck, "");
    std::vector<int> once(words, 1);
    once.push_back(0);
    EXPECT_EQ(examined, once) << words;
  }
}

TEST(far_pages, have_addresses_that_lead_back_to_them) {
  // At the largest heap, and so that addresses differ from numbers in their low 32 bits.
  auto* const base = reinterpret_cast<std::byte*>(std::uintptr_t{0x7100} << 32);
  for (const std::size_t page_bytes : {std::size_t{16}, std::size_t{48}, std::size_t{256}}) {
    const random_walk::page_options settings{.page_bytes = page_bytes};
    ASSERT_NO_THROW(random_walk::page_pool::check("far_pages", settings, 64_GiB));
    const std::uint32_t count = random_walk::page_pool::most_pages(settings, 64_GiB);
    region_cursor cursor(region{base, 64_GiB}, "far_pages");
    const random_walk::page_pool pages(cursor, count, settings);
    for (const std::uint64_t offset :
         {std::uint64_t{0}, std::uint64_t{4_GiB}, std::uint64_t{32_GiB}, std::uint64_t{40_GiB},
          std::uint64_t{count - 1} * page_bytes}) {
      const auto page = static_cast<std::uint32_t>(offset / page_bytes);
      const auto* const address = static_cast<std::byte*>(pages.address(page));
      EXPECT_EQ(address, base + page * std::uint64_t{page_bytes});
      EXPECT_TRUE(pages.holds(address));
      EXPECT_EQ(pages.number(address), page);
    }
    EXPECT_FALSE(pages.holds(base + count * std::uint64_t{page_bytes}));
    EXPECT_FALSE(pages.holds(base - 1));
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
