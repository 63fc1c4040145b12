// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves of pages that streams still use: whom they wait for, and how long.
#include <gtest/gtest.h>

#include <chrono>

#include "fake_events.hpp"
#include "pool_fixture.hpp"

namespace warpheap::host {
namespace {

// A pool of 1 MiB pages' worth with every second block free, so that a large request must move
// pages.
class streams_and_pages : public testing::Test {
 protected:
  static constexpr std::size_t page = paged_upstream::page;
  static constexpr std::size_t piece = 3 * page;
  static constexpr int pieces = 16;

  void fragment(stream_id stream) {
    std::vector<void*> blocks;
    for (int i = 0; i < pieces; ++i) blocks.push_back(pool->try_allocate(piece, 1, stream));
    for (int i = 0; i < pieces; i += 2) {
      events->submit(stream);
      pool->deallocate(blocks[i], stream);
    }
  }

  // A pool that may hold four times its pieces, and hardly more than is in use unless it must.
  void make_growing() {
    source = std::make_shared<paged_upstream>(4 * pieces * piece);
    events = std::make_shared<fake_events>();
    pool = make_pool("tlsf", source, events, {.region_bytes = piece, .spare_percent = 1});
  }

  std::shared_ptr<paged_upstream> source = std::make_shared<paged_upstream>(pieces * piece);
  std::shared_ptr<fake_events> events = std::make_shared<fake_events>();
  std::unique_ptr<pool_interface> pool = make_pool("tlsf", source, events, {.region_bytes = piece});
};

TEST_F(streams_and_pages, pages_move_only_when_the_stream_is_done_with_them) {
  fragment(one);
  ASSERT_NE(pool->try_allocate(2 * piece, 1, one), nullptr);
  EXPECT_GT(source->decommitted, 0u);
  EXPECT_EQ(events->finished[one], events->submitted[one]) << "pages were taken from running work";
  EXPECT_EQ(events->live, 0);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_F(streams_and_pages, pages_that_another_stream_freed_wait_for_that_stream) {
  fragment(one);
  events->destroy(one);
  ASSERT_NE(pool->try_allocate(2 * piece, 1, two), nullptr);
  EXPECT_GT(source->decommitted, 0u);
  EXPECT_EQ(events->finished[one], events->submitted[one]);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_F(streams_and_pages, work_that_never_ends_costs_memory_and_does_not_hang) {
  for (const stream_id caller : {one, two}) {
    make_growing();
    fragment(one);
    events->stuck = true;
    void* const large = pool->try_allocate(3 * piece, 1, caller);
    ASSERT_NE(large, nullptr) << "the upstream has more";
    EXPECT_EQ(events->gave_up, 1);
    ASSERT_NE(pool->try_allocate(4 * piece, 1, caller), nullptr);
    EXPECT_EQ(events->gave_up, 1) << "waits again at once";
    EXPECT_EQ(source->decommitted, 0u);
    EXPECT_EQ(events->blocked, 0);
    EXPECT_EQ(pool->check(), std::nullopt);

    // Many requests later it is tried again, and then the work is done.
    events->stuck = false;
    pool->deallocate(large, caller);
    for (int i = 0; i < 1100; ++i) {
      pool->deallocate(pool->try_allocate(256, 1, caller), caller);
    }
    ASSERT_NE(pool->try_allocate(5 * piece, 1, caller), nullptr);
    EXPECT_GT(source->decommitted, 0u);
    EXPECT_EQ(pool->check(), std::nullopt);
  }
}

TEST_F(streams_and_pages, the_last_resort_waits_however_long_the_work_takes) {
  for (const stream_id caller : {one, two}) {
    source = std::make_shared<paged_upstream>(pieces * piece);
    events = std::make_shared<fake_events>();
    pool = make_pool("tlsf", source, events, {.region_bytes = piece});
    fragment(one);
    events->stuck = true;
    ASSERT_NE(pool->try_allocate(2 * piece, 1, caller), nullptr) << "the upstream has no more";
    EXPECT_GT(source->decommitted, 0u);
    EXPECT_EQ(events->finished[one], events->submitted[one])
        << "pages were taken from running work";
    EXPECT_EQ(pool->check(), std::nullopt);
  }
}

TEST_F(streams_and_pages, nothing_moves_while_the_stream_is_captured) {
  fragment(one);
  events->captured.insert(one);
  EXPECT_EQ(pool->try_allocate(2 * piece, 1, one), nullptr) << "the upstream has no more";
  EXPECT_EQ(source->decommitted, 0u);
  EXPECT_EQ(events->recorded, 0);
  events->captured.clear();
  EXPECT_NE(pool->try_allocate(2 * piece, 1, one), nullptr);
}

TEST_F(streams_and_pages, a_move_that_saves_memory_waits_for_20_ms_at_most) {
  using clock = std::chrono::steady_clock;
  for (const stream_id caller : {one, two}) {
    make_growing();
    fragment(one);
    events->stuck = true;
    const auto before = clock::now();
    ASSERT_NE(pool->try_allocate(3 * piece, 1, caller), nullptr);
    const auto after = clock::now();
    EXPECT_GE(events->last_deadline, before + std::chrono::milliseconds(20));
    EXPECT_LE(events->last_deadline, after + std::chrono::milliseconds(20));
    pool.reset();
    EXPECT_EQ(events->live, 0) << "a wait in vain gives its event back";
  }
}

TEST_F(streams_and_pages, a_move_for_which_the_holes_have_too_few_pages_never_waits) {
  for (const stream_id caller : {one, two}) {
    make_growing();
    // Every second block is free, but a single hole has a whole page.
    std::vector<void*> blocks;
    blocks.push_back(pool->try_allocate(page, 1, one));
    for (int i = 0; i < 63; ++i) blocks.push_back(pool->try_allocate(page / 2, 1, one));
    events->submit(one);
    for (std::size_t i = 0; i < blocks.size(); i += 2) pool->deallocate(blocks[i], one);
    events->stuck = true;
    ASSERT_NE(pool->try_allocate(4 * page, 1, caller), nullptr);
    EXPECT_EQ(events->gave_up, 0);
    EXPECT_EQ(events->blocked, 0);
    EXPECT_EQ(source->decommitted, 0u);

    // More whole pages, and it is worth the wait.
    events->stuck = false;
    for (std::size_t i = 1; i < blocks.size(); i += 2) pool->deallocate(blocks[i], one);
    ASSERT_NE(pool->try_allocate(40 * page, 1, caller), nullptr);
    EXPECT_EQ(pool->check(), std::nullopt);
  }
}

}  // namespace
}  // namespace warpheap::host
