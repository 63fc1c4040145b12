// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools over an upstream with pages: the memory of holes moves to where a request fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "fake_events.hpp"
#include "message_of.hpp"
#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/policies/tlsf.hpp"
#include "warpheap/host/pools/unlocked_pool.hpp"

namespace warpheap::host {
namespace {

constexpr std::size_t page = paged_upstream::page;

class pages : public testing::TestWithParam<std::string> {
 protected:
  void make(pool_options options, std::size_t budget = 1_GiB, std::size_t addresses = 1_GiB) {
    source = std::make_shared<paged_upstream>(budget, addresses);
    pool = make_pool(GetParam(), source, std::make_shared<no_events>(), options);
  }

  void* take(std::size_t bytes) {
    void* block = pool->try_allocate(bytes, 1, stream_id::none);
    if (block != nullptr) {
      EXPECT_TRUE(source->backs(block, bytes)) << "a block without memory";
      held.add(block, pool->usable_bytes(block));
    }
    return block;
  }
  void give(void* block) {
    pool->deallocate(block, stream_id::none);
    held.remove(block);
  }
  // `count` blocks of three pages, of which every second one is free again.
  void fragment(int count) {
    std::vector<void*> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back(take(3 * page));
    for (int i = 0; i < count; i += 2) give(blocks[i]);
  }
  void expect_sound() {
    EXPECT_EQ(pool->check(), std::nullopt);
    EXPECT_EQ(pool->stats().reserved_bytes, source->held());
    EXPECT_EQ(pool->stats().regions, source->regions());
    for (const auto& [base, bytes] : held.all()) {
      EXPECT_TRUE(source->backs(reinterpret_cast<void*>(base), bytes)) << to_text(base);
    }
  }

  std::shared_ptr<paged_upstream> source;
  std::unique_ptr<pool_interface> pool;
  held_blocks held;
};

INSTANTIATE_TEST_SUITE_P(vacatable, pages,
                         testing::Values("tlsf", "segregated_fit", "slabs_over_tlsf"),
                         [](const auto& test) { return test.param; });

TEST_P(pages, a_request_larger_than_any_hole_gets_the_memory_of_the_holes) {
  make({.limit_bytes = 30 * page, .region_bytes = page});
  fragment(10);
  ASSERT_EQ(source->held(), 30 * page);
  EXPECT_NE(take(15 * page), nullptr) << "all that is free, in one piece";
  EXPECT_EQ(source->held(), 30 * page);
  EXPECT_EQ(source->regions(), 1u);
  EXPECT_EQ(take(1), nullptr);
  expect_sound();
}

TEST_P(pages, a_pool_moves_pages_before_it_holds_more_than_its_spare_share) {
  make({.region_bytes = page, .spare_percent = 10});
  fragment(40);
  const std::size_t peak = 120 * page;
  ASSERT_EQ(source->held(), peak);
  // Three blocks of nine pages: twelve more than the peak may be held, the others are moved.
  for (int i = 0; i < 3; ++i) ASSERT_NE(take(9 * page), nullptr);
  EXPECT_LE(source->held(), peak + 12 * page);
  EXPECT_GE(source->held(), peak + 11 * page);
  EXPECT_EQ(pool->stats().peak_bytes, peak);
  EXPECT_GE(source->decommitted, 15 * page);
  expect_sound();
}

// A region grows in steps, as far as the limit leaves room beside the pages that are filled.
TEST_P(pages, a_region_that_is_filled_and_extended_at_once_stays_within_the_limit) {
  make({.initial_bytes = 6 * page, .limit_bytes = 8 * page, .region_bytes = 4 * page});
  ASSERT_NE(take(4 * page), nullptr);
  pool->trim(0);
  ASSERT_EQ(source->held(), 4 * page);
  ASSERT_NE(take(3 * page), nullptr) << "two pages that had gone, and one behind them";
  EXPECT_EQ(source->held(), 8 * page);
  expect_sound();
}

// Pages that had gone are there again when it turns out that the region has no address behind them.
TEST_P(pages, a_region_that_is_filled_in_vain_stays_within_the_limit) {
  make({.initial_bytes = 16 * page, .limit_bytes = 18 * page, .region_bytes = page}, 1_GiB,
       16 * page);
  ASSERT_NE(take(8 * page), nullptr);
  pool->trim(0);
  ASSERT_EQ(source->held(), 8 * page);
  take(9 * page);
  EXPECT_LE(source->held(), 18 * page);
  expect_sound();
}

TEST_P(pages, a_pool_may_hold_a_region_more_than_its_peak_before_pages_move) {
  make({.region_bytes = 16 * page});
  fragment(10);
  ASSERT_EQ(source->held(), 32 * page);
  ASSERT_NE(take(10 * page), nullptr) << "2 pages are free at the end, and 14 more may be held";
  EXPECT_EQ(source->decommitted, 0u);
  expect_sound();
}

TEST(pages_for, a_request_that_takes_all_pages_of_holes_has_enough) {
  unlocked_pool<tlsf> pool(std::make_shared<paged_upstream>(), {.region_bytes = page});
  std::vector<extent> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.allocate_or_grow(3 * page, 1));
  pool.deallocate(blocks[0].base);
  pool.deallocate(blocks[2].base);
  constexpr std::size_t no_more = 0;
  EXPECT_TRUE(pool.has_pages_for(6 * page, 1, no_more));
  EXPECT_FALSE(pool.has_pages_for(7 * page, 1, no_more));
  EXPECT_TRUE(pool.has_pages_for(7 * page, 1, 16 * page)) << "one more may be held";
}

TEST_P(pages, pages_that_move_too_often_stay_unless_memory_is_exhausted) {
  make({.region_bytes = page, .spare_percent = 1}, 4096 * page);
  std::vector<void*> blocks;
  for (int i = 0; i < 600; ++i) blocks.push_back(take(3 * page));
  const std::size_t peak = 1800 * page;
  // Each round leaves holes that are too small for the next one's requests.
  for (std::size_t large = 4; source->held() <= peak + 18 * page; large += 2) {
    ASSERT_LT(large, 60u) << "pages move on and on";
    for (std::size_t i = large % 4 / 2; i < blocks.size(); i += 2) {
      give(blocks[i]);
      blocks[i] = nullptr;
    }
    for (void*& block : blocks) {
      if (block == nullptr && pool->stats().bytes_in_use + large * page <= peak) {
        block = take(large * page);
      }
    }
    std::erase(blocks, nullptr);
  }
  EXPECT_GE(source->decommitted, 1024 * page) << "not before";
  const std::size_t moved = source->decommitted;
  const std::size_t unused = 4096 * page - pool->stats().bytes_in_use;
  EXPECT_NE(take(unused), nullptr) << "there is no other memory for this";
  EXPECT_GT(source->decommitted, moved);
  EXPECT_EQ(pool->stats().moved_bytes, source->decommitted);
  expect_sound();
}

TEST_P(pages, an_empty_upstream_does_not_fail_a_request_while_there_are_holes) {
  make({.region_bytes = page, .spare_percent = 1000}, 33 * page);
  fragment(10);
  ASSERT_NE(take(10 * page), nullptr) << "three of the upstream's are not enough";
  EXPECT_LE(source->held(), 33 * page);
  expect_sound();
  ASSERT_EQ(take(30 * page), nullptr);
  expect_sound();
}

TEST_P(pages, an_upstream_that_overstates_what_it_has_does_not_fail_a_request) {
  for (const std::size_t overstated : {1, 3, 15, 1000}) {
    held = {};
    make({.region_bytes = page, .spare_percent = 1000}, 33 * page);
    source->overstated = overstated * page;
    fragment(10);
    ASSERT_EQ(source->held(), 30 * page);
    ASSERT_NE(take(18 * page), nullptr) << "15 pages of the holes and 3 of the upstream";
    EXPECT_EQ(source->held(), 33 * page);
    expect_sound();
    ASSERT_EQ(take(1), nullptr);
    expect_sound();
  }
}

TEST_P(pages, the_rest_of_a_hole_that_a_request_uses_in_part_may_move) {
  using sides = std::pair<std::size_t, std::size_t>;
  for (const auto& [left, right] : {sides{5, 5}, sides{4, 5}, sides{5, 4}}) {
    held = {};
    make({.region_bytes = page, .spare_percent = 1000}, 17 * page);
    void* const before = take(left * page);
    void* const hole = take(6 * page);
    void* const behind = take(right * page);
    ASSERT_NE(take(page), nullptr);
    give(before);
    give(behind);
    ASSERT_EQ(pool->trim(0), (left + right) * page);
    ASSERT_NE(take(8 * page), nullptr) << "behind the last block";
    ASSERT_EQ(source->held(), 15 * page);
    give(hole);
    // Vacant addresses on both sides: the request covers those of the smaller one and a part of the
    // hole, at either of its ends.
    ASSERT_NE(take(8 * page), nullptr) << "6 pages of the hole and 2 of the upstream";
    EXPECT_EQ(source->held(), 17 * page);
    expect_sound();
  }
}

TEST_P(pages, the_upstreams_last_pages_extend_a_region_by_less_than_its_step) {
  make({.region_bytes = 8 * page}, 10 * page);
  void* const first = take(7 * page + page / 2);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(source->held(), 8 * page);
  ASSERT_NE(take(2 * page + page / 2), nullptr) << "half a page is free, two pages are available";
  EXPECT_EQ(source->held(), 10 * page);
  EXPECT_EQ(source->regions(), 1u);
  expect_sound();
}

TEST_P(pages, vacant_addresses_are_used_again) {
  // Addresses for twice the memory: without their reuse they would not last.
  make({.limit_bytes = 64 * page, .region_bytes = page}, 64 * page, 128 * page);
  std::mt19937_64 random(3);
  int served = 0;
  for (int round = 0; round < steps(400); ++round) {
    while (pool->stats().bytes_in_use < 40 * page) take((1 + random() % 6) * page);
    while (pool->stats().bytes_in_use > 20 * page) give(held.pick(random()));
    void* large = take(24 * page);
    served += large != nullptr;
    if (large != nullptr) give(large);
    ASSERT_LE(source->held(), 64 * page);
  }
  EXPECT_EQ(served, steps(400)) << "44 of 64 pages were free each time";
  expect_sound();
}

TEST_P(pages, random_requests_agree_with_a_model) {
  for (const std::size_t spare : {1, 10, 100}) {
    held = {};
    make({.limit_bytes = 16_MiB, .region_bytes = 4 * page, .spare_percent = spare});
    std::mt19937_64 random(spare);
    for (int step = 0; step < steps(20000); ++step) {
      const std::size_t in_use = pool->stats().bytes_in_use;
      if (held.empty() || (random() % 100 < 55 && in_use < 15_MiB)) {
        const std::size_t bytes = 1 + random() % (std::size_t{1} << (6 + random() % 16));
        const bool fails = take(bytes) == nullptr;
        // Whatever is free is at worst in parts of pages, two for each block in use.
        const std::size_t scattered = 2 * page * (held.size() + 1);
        ASSERT_TRUE(!fails || in_use + bytes + scattered > 16_MiB) << bytes << " of " << in_use;
      } else {
        void* block = held.pick(random());
        give(block);
        ASSERT_THROW(pool->deallocate(block, stream_id::none), invalid_argument) << "freed twice";
      }
      ASSERT_LE(source->held(), 16_MiB);
      if (step % 500 == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_sound());
      }
      if (step % 3000 == 2999) {
        const std::size_t before = source->held();
        const std::size_t keep = random() % 16_MiB;
        const std::size_t released = pool->trim(keep);
        ASSERT_EQ(released, before - source->held());
        ASSERT_GE(source->held(), std::min(before, keep));
      }
    }
    expect_sound();
    EXPECT_GT(source->decommitted, 0u);
    while (!held.empty()) give(held.pick(random()));
    pool->trim(0);
    EXPECT_EQ(source->held(), 0u) << "what has no block goes back";
    EXPECT_EQ(source->regions(), 0u);
    EXPECT_EQ(pool->check(), std::nullopt);
  }
}

TEST_P(pages, no_vacant_address_can_be_freed) {
  make({.limit_bytes = 30 * page, .region_bytes = page});
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(take(3 * page));
  for (int i = 0; i < 10; i += 2) give(blocks[i]);
  ASSERT_NE(take(15 * page), nullptr);
  for (int i = 0; i < 10; i += 2) {
    ASSERT_FALSE(source->backs(blocks[i], 3 * page));
    EXPECT_THROW(pool->deallocate(blocks[i], stream_id::none), invalid_argument);
    EXPECT_EQ(pool->usable_bytes(blocks[i]), 0u);
  }
  expect_sound();
}

TEST_P(pages, trimming_gives_the_pages_of_holes_back) {
  make({.region_bytes = page});
  fragment(10);
  EXPECT_EQ(pool->trim(24 * page), 6 * page) << "no more than asked for";
  EXPECT_EQ(source->held(), 24 * page);
  EXPECT_EQ(pool->trim(0), 9 * page) << "five of the ten blocks are in use";
  EXPECT_EQ(source->held(), 15 * page);
  expect_sound();
  ASSERT_NE(take(3 * page), nullptr);
  EXPECT_EQ(source->held(), 18 * page);
  expect_sound();
}

TEST_P(pages, a_region_that_goes_back_counts_what_is_left_of_it) {
  make({.region_bytes = page});
  fragment(10);
  ASSERT_EQ(pool->trim(0), 15 * page);
  while (!held.empty()) give(held.pick(0));
  EXPECT_EQ(pool->trim(0), 15 * page) << "15 of the 30 pages went back before";
  EXPECT_EQ(source->held(), 0u);
  EXPECT_EQ(pool->stats().reserved_bytes, 0u);
}

TEST_P(pages, each_of_several_regions_counts_its_own_vacant_pages) {
  make({.region_bytes = page}, 1_GiB, 16 * page);
  std::vector<void*> blocks;
  for (int n = 0; n < 12; ++n) blocks.push_back(take(4 * page));
  ASSERT_EQ(source->regions(), 3u);
  for (std::size_t n = 0; n < 12; n += 2) give(blocks[n]);
  pool->trim(0);
  expect_sound();
  for (const std::size_t first : {4, 0, 8}) {
    give(blocks[first + 1]);
    give(blocks[first + 3]);
    pool->trim(0);
    expect_sound();
  }
  EXPECT_EQ(source->regions(), 0u);
}

TEST_P(pages, an_alignment_is_kept_where_pages_come_together) {
  make({.limit_bytes = 40 * page, .region_bytes = page});
  fragment(10);
  void* block = pool->try_allocate(8 * page, 4 * page, stream_id::none);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<address>(block) % (4 * page), 0u);
  EXPECT_TRUE(source->backs(block, 8 * page));
  expect_sound();
}

TEST_P(pages, a_pool_smaller_than_a_page_works) {
  make({.initial_bytes = 1000, .region_bytes = 1000});
  EXPECT_EQ(source->held(), page);
  ASSERT_NE(take(500), nullptr);
  ASSERT_NE(take(2 * page), nullptr);
  EXPECT_EQ(source->held(), 3 * page);
  expect_sound();
}

TEST_P(pages, a_limit_below_a_page_is_refused_with_both_sizes) {
  const std::string message =
      test::message_of<invalid_argument>([&] { make({.limit_bytes = 1000}); });
  EXPECT_NE(message.find("1000"), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(page)), std::string::npos) << message;
}

TEST_P(pages, a_spare_share_out_of_range_is_refused_with_the_limit) {
  const std::string message =
      test::message_of<invalid_argument>([&] { make({.spare_percent = 1'000'001}); });
  EXPECT_NE(message.find("1000001"), std::string::npos) << message;
  EXPECT_NE(message.find("1000000"), std::string::npos) << message;
}

TEST_P(pages, granules_larger_than_a_page_work_and_nothing_moves) {
  make({.limit_bytes = 64 * page, .region_bytes = page, .granule_bytes = 4 * page});
  std::vector<void*> blocks;
  while (void* block = take(1)) blocks.push_back(block);
  ASSERT_GE(blocks.size(), 8u) << "a region that is not aligned to the granule loses one";
  for (std::size_t i = 0; i < blocks.size(); i += 2) give(blocks[i]);
  EXPECT_EQ(take(60 * page), nullptr);
  EXPECT_EQ(source->decommitted, 0u);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(pages, a_limit_that_is_not_a_multiple_of_a_page_is_kept) {
  make({.initial_bytes = 5 * page + 1, .limit_bytes = 5 * page + 1, .region_bytes = 3 * page + 7});
  EXPECT_EQ(source->held(), 5 * page);
  EXPECT_NE(take(5 * page), nullptr);
  EXPECT_EQ(take(1), nullptr);
  expect_sound();
}

}  // namespace
}  // namespace warpheap::host
