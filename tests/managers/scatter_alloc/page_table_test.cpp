// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page usage table and the Super Blocks, each by itself, and pages that got lost.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace scatter_parts;

constexpr scatter_config config;
// So many that pages follow their masks without a gap.
constexpr std::uint32_t pages = 64;

TEST(scatter_page_table, format_does_not_touch_pages) {
  rubbish memory(512_KiB);
  region_cursor cursor = memory.cursor();
  const page_table<config> table(cursor, pages);
  table.format(0, 1);
  EXPECT_TRUE(memory.is_untouched_from(table.address(0)));
}

TEST(scatter_page_table, a_page_whose_chunks_are_all_held_has_no_room) {
  using table = page_table<config>;
  for (const std::uint32_t units : {1u, 7u, 16u, 128u}) {
    const std::uint32_t all = table::sizes::capacity(units);
    EXPECT_TRUE(table::has_room(page_state::chunks(units, all - 1), units));
    EXPECT_FALSE(table::has_room(page_state::chunks(units, all), units));
  }
}

TEST(scatter_super_blocks, format_touches_nothing_behind_them) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const super_blocks<config> blocks(cursor, pages);
  blocks.format(0, 1);
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

TEST(scatter_super_blocks, what_is_freed_opens_its_own_region_and_no_other) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const super_blocks<config> blocks(cursor, pages);
  blocks.format(0, 1);
  ASSERT_EQ(blocks.regions(), 4u);
  for (const std::uint32_t freed : {1u, 3u}) {
    for (std::uint32_t region = 0; region < 4; ++region) blocks.reject(region, 0);
    machine().launch({1, 1}, [&] {
      blocks.take(freed * config.region_pages, config.region_pages);
      blocks.give(freed * config.region_pages, config.region_pages);
    });
    for (std::uint32_t region = 0; region < 4; ++region) {
      EXPECT_EQ(blocks.level(region), region == freed ? 0u : 1u) << region;
    }
  }
  // A run in two of them opens both.
  for (std::uint32_t region = 0; region < 4; ++region) blocks.reject(region, 0);
  machine().launch({1, 1}, [&] {
    blocks.take(2 * config.region_pages - 1, 2);
    blocks.give(2 * config.region_pages - 1, 2);
  });
  for (std::uint32_t region = 0; region < 4; ++region) {
    EXPECT_EQ(blocks.level(region), region == 1 || region == 2 ? 0u : 1u) << region;
  }
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

TEST(scatter_super_blocks, requests_stay_where_they_have_moved_on_to) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const super_blocks<config> blocks(cursor, 4 * config.least_block_pages);
  blocks.format(0, 1);
  ASSERT_GT(blocks.count(), 1u);
  machine().launch({1, 1}, [&] {
    const std::uint32_t all = blocks.end_page(0);
    for (std::uint32_t page = 0; page < all; ++page) blocks.take(page, 1);
    EXPECT_EQ(blocks.active(), 1u);
    blocks.give(0, 1);
    EXPECT_EQ(blocks.active(), 1u);
    for (std::uint32_t page = 1; page < all; ++page) blocks.give(page, 1);
    EXPECT_EQ(blocks.active(), 1u) << "though the first one is empty again";
  });
}

// Probing wraps around to the first region of a Super Block. A region of the next one, where nobody
// has looked, would be skipped the sooner.
TEST(scatter_probing, rejects_no_region_of_the_next_super_block) {
  using manager = scatter_alloc<scatter_config{.page_bytes = 256,
                                               .region_pages = 2,
                                               .super_blocks = 2,
                                               .least_block_pages = 8,
                                               .probed_regions = 2}>;
  const heap<manager> heap(machine(), 16_KiB);
  const auto parts = heap.ref().manager().parts();
  const auto& blocks = parts.blocks();
  ASSERT_EQ(blocks.count(), 2u);
  const std::uint32_t last = blocks.end_page(0) / 2 - 1;
  // The first and the last region of the first Super Block are in use, those between are not.
  machine().launch({1, 1}, [&] {
    for (const std::uint32_t page : {0u, 1u, 2 * last, 2 * last + 1}) {
      ASSERT_NE(parts.take_page(page), nullptr);
    }
  });
  void* block = nullptr;
  machine().launch({1, 32}, [&] {
    // The lanes of a warp begin in different pages.
    if (parts.start_page(128) / 2 != last || !simt::coalesced(nullptr).is_leader()) return;
    block = heap.ref().malloc(128);
  });
  ASSERT_NE(block, nullptr);
  for (std::uint32_t region = 0; region < blocks.regions(); ++region) {
    EXPECT_EQ(blocks.level(region), region == 0 || region == last ? 1u : 0u) << region;
  }
}

// A segment that was seen full is skipped, until a chunk of it comes back.
TEST(scatter_page_table, knows_which_segments_were_seen_full) {
  const rubbish memory(512_KiB);
  region_cursor cursor = memory.cursor();
  const page_table<config> table(cursor, pages);
  table.format(0, 1);
  machine().launch({1, 1}, [&] {
    table.open(3, 1, 32);
    EXPECT_EQ(table.flat_mask(3), 0u);
    EXPECT_EQ(table.take(3, 1, 1, 0, true).bits, 0u);
    EXPECT_EQ(table.flat_mask(3), 1u);
    table.put_back(3, 1, 5);
    EXPECT_EQ(table.flat_mask(3), 0u);
  });
}

// All of them count as filled.
TEST(scatter_super_blocks, requests_move_on_from_one_without_a_free_page_to_one_that_has_some) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const super_blocks<config> blocks(cursor, 4 * config.least_block_pages);
  blocks.format(0, 1);
  ASSERT_EQ(blocks.count(), 4u);
  machine().launch({1, 1}, [&] {
    for (std::uint32_t page = 0; page < blocks.end_page(3); ++page) {
      if (page != blocks.first_page(2)) blocks.take(page, 1);
    }
    EXPECT_EQ(blocks.active(), 2u);
  });
}

// Two pages are free in front of many, and no more of them than one lane asks for.
TEST(scatter_runs, of_lanes_that_ask_together_are_one_run_if_there_is_one_that_long) {
  constexpr std::uint32_t lanes = 4;
  constexpr std::size_t page_bytes = config.page_bytes;
  const heap<scatter_alloc<>> all(machine(), 256_KiB);
  const auto parts = all.ref().manager().parts();
  ASSERT_GT(parts.table().pages(), 3 + 2 * lanes);
  std::vector<std::byte*> got(lanes);
  machine().launch({1, 1}, [&] { ASSERT_NE(parts.take_page(2), nullptr); });
  machine().launch({1, lanes}, [&] {
    got[simt::thread_rank()] = static_cast<std::byte*>(all.ref().malloc(2 * page_bytes));
  });
  for (std::uint32_t i = 0; i < lanes; ++i) EXPECT_EQ(got[i], got[0] + i * 2 * page_bytes) << i;
}

class scatter_room_seen : public ::testing::Test {
 protected:
  using room = room_seen<config>;
  using sizes = geometry<config>;

  scatter_room_seen() { seen_.format({}, where_); }

  rubbish memory_{64_KiB};
  region_cursor cursor_ = memory_.cursor();
  room::storage where_{cursor_};
  room seen_;
};

// A lane may see the bit of a size before the page.
TEST_F(scatter_room_seen, has_no_page_of_any_size_at_first) {
  for (std::uint32_t size = 0; size <= sizes::chunk_sizes; ++size) {
    EXPECT_EQ(where_.pages[size], room::none) << size;
  }
  EXPECT_TRUE(memory_.is_untouched_behind(cursor_));
}

TEST_F(scatter_room_seen, a_page_of_the_largest_chunks_suits_a_request_for_them) {
  EXPECT_EQ(seen_.page_for(sizes::chunk_sizes), room::none);
  seen_.add(sizes::chunk_sizes, 7);
  EXPECT_EQ(seen_.page_for(sizes::chunk_sizes), 7u);
  EXPECT_EQ(seen_.page_for(sizes::chunk_sizes / 2), 7u);
}

// Their bits lie in the next word.
TEST_F(scatter_room_seen, a_page_of_chunks_of_nearly_twice_the_size_suits_a_request) {
  seen_.add(100, 7);
  for (const std::uint32_t request : {50u, 60u, 63u, 64u, 100u}) {
    EXPECT_EQ(seen_.page_for(request), 7u) << request;
  }
  for (const std::uint32_t request : {49u, 101u}) {
    EXPECT_EQ(seen_.page_for(request), room::none) << request;
  }
}

TEST_F(scatter_room_seen, a_free_page_suits_every_request) {
  seen_.add(room::free_page, 7);
  for (const std::uint32_t request : {1u, sizes::chunk_sizes, sizes::page_request}) {
    EXPECT_EQ(seen_.page_for(request), 7u) << request;
  }
}

// Their places lie behind the bits, and may be further away than here.
TEST(scatter_room_seen_alone, format_writes_as_many_bits_and_places_as_there_are_sizes) {
  using room = room_seen<config>;
  constexpr std::uint32_t sizes = geometry<config>::chunk_sizes;
  constexpr std::uint32_t words = sizes / 64 + 1;
  std::vector<std::uint64_t> seen(words + 1, 99);
  std::vector<std::uint32_t> places(sizes + 2, 99);
  room::storage where;
  where.seen = seen.data();
  where.pages = places.data();
  room all;
  all.format({}, where);
  EXPECT_EQ(seen[words - 1], 0u);
  EXPECT_EQ(seen[words], 99u);
  EXPECT_EQ(places[sizes], room::none);
  EXPECT_EQ(places[sizes + 1], 99u);
}

// Else what stood there might say that nothing of a size is left.
TEST(scatter_size_exhaustion, format_clears_the_words_of_all_sizes_and_nothing_behind_them) {
  constexpr std::uint32_t sizes = 5;
  for (const std::uint64_t lanes : {1u, 4u}) {
    std::vector<std::uint64_t> words(size_exhaustion::words_for(sizes) + 1, 1);
    const size_exhaustion out(words.data(), sizes);
    for (std::uint64_t rank = 0; rank < lanes; ++rank) out.format(rank, lanes);
    EXPECT_EQ(words, (std::vector<std::uint64_t>{0, 0, 0, 0, 0, 0, 1})) << lanes;
  }
}

TEST(scatter_inspection, pages_that_are_missing_from_the_front_on_are_found) {
  using manager = scatter_alloc<>;
  const heap<manager> heap(machine(), 1_MiB);
  const auto parts = heap.ref().manager().parts();
  const std::uint32_t lost = parts.blocks().first_page(1);
  ASSERT_EQ(lost, 64u);
  machine().launch({1, 1}, [&] {
    for (std::uint32_t page = 0; page < lost; ++page) parts.free_pages().remove(page);
  });
  const validation found = heap.validate();
  ASSERT_EQ(found.violations.size(), 2u) << found.describe();
  EXPECT_EQ(found.violations[0].invariant, 2);
  EXPECT_EQ(found.violations[0].times, lost);
  EXPECT_EQ(found.violations[1].invariant, 5);
  EXPECT_EQ(found.violations[1].place, 0u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
