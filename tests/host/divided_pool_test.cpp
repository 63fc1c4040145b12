// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pool in parts: what its parts share, and what threads may do that a pool with one lock allows.
#include "warpheap/host/pools/divided_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "fake_events.hpp"
#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"

namespace warpheap::host {
namespace {

using pool_type = divided_pool<tlsf>;

std::unique_ptr<pool_type> divided(std::shared_ptr<upstream> source, std::size_t parts,
                                   pool_options options = {}) {
  return std::make_unique<pool_type>(
      std::move(source), [] { return std::make_shared<no_events>(); }, parts, options);
}

/// Runs something in a thread of its own: in another part than that of the thread before it.
template <class Function>
void in_a_thread(Function&& f) {
  std::thread(std::forward<Function>(f)).join();
}

TEST(divided_pool, threads_in_turn_have_parts_of_their_own) {
  const auto pool = divided(std::make_shared<counted_upstream>(), 3, {.region_bytes = 1_MiB});
  for (std::uint64_t regions = 1; regions <= 3; ++regions) {
    in_a_thread([&] { pool->allocate(256, 256, stream_id::none); });
    EXPECT_EQ(pool->stats().regions, regions);
  }
  in_a_thread([&] { pool->allocate(256, 256, stream_id::none); });
  EXPECT_EQ(pool->stats().regions, 3u) << "the fourth thread is in the first one's part";
}

TEST(divided_pool, has_from_one_to_as_many_parts_as_it_says) {
  const auto source = std::make_shared<counted_upstream>();
  for (const std::size_t parts : {std::size_t{1}, pool_type::most_parts}) {
    const auto pool = divided(source, parts, {.region_bytes = 1_MiB});
    EXPECT_NE(pool->try_allocate(256, 256, stream_id::none), nullptr) << parts;
  }
  for (const std::size_t parts : {std::size_t{0}, pool_type::most_parts + 1}) {
    EXPECT_THROW(divided(source, parts), invalid_argument) << parts;
  }
}

TEST(pool_stats, every_field_is_added_but_the_size_that_failed_last) {
  using fields = std::array<std::uint64_t, sizeof(pool_stats) / sizeof(std::uint64_t)>;
  fields words;
  std::iota(words.begin(), words.end(), 1);
  pool_stats one;
  std::memcpy(static_cast<warpheap_pool_stats*>(&one), words.data(), sizeof(one));

  pool_stats all;
  all += one;
  EXPECT_EQ(all.last_failed_bytes, one.last_failed_bytes) << "the only one that is known";
  pool_stats other = one;
  other.last_failed_bytes = 99;
  all += other;
  EXPECT_EQ(all.last_failed_bytes, one.last_failed_bytes);
  all.last_failed_bytes *= 2;
  std::memcpy(words.data(), &all, sizeof(all));
  for (std::uint64_t n = 0; n < words.size(); ++n) EXPECT_EQ(words[n], 2 * (n + 1)) << n;
}

TEST(divided_pool, any_thread_may_free_cut_and_measure_a_block) {
  const auto pool = divided(std::make_shared<counted_upstream>(), 4);
  std::vector<void*> blocks;
  for (int thread = 0; thread < 4; ++thread) {
    in_a_thread([&] { blocks.push_back(pool->allocate(4096, 256, stream_id::none)); });
  }
  in_a_thread([&] {
    for (void* block : blocks) {
      EXPECT_EQ(pool->usable_bytes(block), 4096u);
      EXPECT_EQ(pool->truncate(block, 1024), 3072u);
    }
  });
  EXPECT_EQ(pool->stats().bytes_in_use, 4096u);
  in_a_thread([&] {
    for (void* block : blocks) pool->deallocate(block, stream_id::none);
  });
  EXPECT_EQ(pool->stats().blocks, 0u);
  EXPECT_EQ(pool->stats().deallocations, 4u);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST(divided_pool,
     a_pointer_that_is_not_a_live_block_is_refused_by_every_function_and_changes_nothing) {
  const auto pool = divided(std::make_shared<counted_upstream>(), 4);
  void* kept = pool->allocate(512, 256, stream_id::none);
  void* freed = nullptr;
  in_a_thread([&] {
    freed = pool->allocate(512, 256, stream_id::none);
    pool->deallocate(freed, stream_id::none);
  });
  for (void* wrong : {freed, at(kept, 256)}) {
    EXPECT_THROW(pool->deallocate(wrong, stream_id::none), invalid_argument);
    EXPECT_THROW(pool->truncate(wrong, 256), invalid_argument);
    EXPECT_EQ(pool->usable_bytes(wrong), 0u);
  }
  EXPECT_EQ(pool->stats().blocks, 1u);
  EXPECT_EQ(pool->stats().deallocations, 1u);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST(divided_pool, one_limit_holds_for_all_parts) {
  const auto source = std::make_shared<counted_upstream>();
  const auto pool = divided(source, 4, {.limit_bytes = 4_MiB, .region_bytes = 1_MiB});
  std::size_t served = 0;
  for (int thread = 0; thread < 8; ++thread) {
    in_a_thread([&] {
      while (pool->try_allocate(256_KiB, 256, stream_id::none) != nullptr) ++served;
    });
  }
  EXPECT_EQ(served, 16u) << "every thread gets all that is left under the limit";
  EXPECT_EQ(source->held(), 4_MiB);
  EXPECT_EQ(pool->try_allocate(0, 256, stream_id::none), nullptr);
  EXPECT_EQ(pool->stats().failures, 8u) << "nothing was refused";
  EXPECT_EQ(pool->stats().last_failed_bytes, 256_KiB);
}

TEST(divided_pool, a_request_goes_to_another_part_that_has_room) {
  const auto pool = divided(std::make_shared<counted_upstream>(), 2,
                            {.limit_bytes = 1_MiB, .region_bytes = 1_MiB});
  void* kept = nullptr;
  in_a_thread([&] { kept = pool->allocate(256, 256, stream_id::none); });
  in_a_thread([&] { EXPECT_NE(pool->try_allocate(512_KiB, 256, stream_id::none), nullptr); });
  EXPECT_EQ(pool->stats().regions, 1u);
  EXPECT_EQ(pool->stats().failures, 0u);
  pool->deallocate(kept, stream_id::none);
}

TEST(divided_pool, parts_give_back_what_no_block_needs_before_a_request_fails) {
  const auto source = std::make_shared<paged_upstream>();
  const auto pool = divided(source, 2, {.limit_bytes = 4_MiB, .region_bytes = 1_MiB});
  // Each part has a hole of nearly 2 MiB.
  for (int thread = 0; thread < 2; ++thread) {
    in_a_thread([&] {
      void* first = pool->allocate(256, 256, stream_id::none);
      void* rest = pool->allocate(2_MiB - 256, 256, stream_id::none);
      pool->deallocate(rest, stream_id::none);
      EXPECT_NE(first, nullptr);
    });
  }
  EXPECT_EQ(source->held(), 4_MiB);
  in_a_thread([&] {
    void* large = pool->try_allocate(3_MiB, 256, stream_id::none);
    ASSERT_NE(large, nullptr);
    EXPECT_TRUE(source->backs(large, 3_MiB));
  });
  EXPECT_LE(source->held(), 4_MiB);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST(divided_pool, the_limit_counts_pages_that_come_and_go_once) {
  const auto source = std::make_shared<paged_upstream>();
  {
    const auto pool = divided(source, 2, {.limit_bytes = 4_MiB, .region_bytes = 1_MiB});
    std::mt19937_64 random(1);
    std::vector<void*> blocks;
    for (int round = 0; round < steps(4000); ++round) {
      in_a_thread([&] {
        if (!blocks.empty() && random() % 2 == 0) {
          pool->deallocate(blocks.back(), stream_id::none);
          blocks.pop_back();
        } else if (void* made = pool->try_allocate(1 + random() % 1_MiB, 256, stream_id::none)) {
          blocks.push_back(made);
        }
        if (random() % 8 == 0) pool->trim(random() % 4_MiB);
        if (random() % 4 == 0) std::shuffle(blocks.begin(), blocks.end(), random);
      });
      ASSERT_LE(source->held(), 4_MiB);
      ASSERT_EQ(pool->stats().reserved_bytes, source->held());
    }
    for (void* block : blocks) pool->deallocate(block, stream_id::none);
    pool->trim(0);
    EXPECT_EQ(source->held(), 0u);
    EXPECT_NE(pool->try_allocate(4_MiB, 256, stream_id::none), nullptr) << "all of it is there";
  }
  EXPECT_EQ(source->held(), 0u);
}

class divided_pool_with_streams : public testing::Test {
 protected:
  // Two parts with a block of 2 MiB less a granule that the stream of each has just freed, and no
  // room under the limit.
  void SetUp() override {
    for (const stream_id stream : {one, two}) {
      in_a_thread([&] {
        pool.allocate(256, 256, stream);
        void* rest = pool.allocate(2_MiB - 256, 256, stream);
        events->submit(stream);
        pool.deallocate(rest, stream);
      });
    }
  }

  std::shared_ptr<fake_events> events = std::make_shared<fake_events>();
  std::shared_ptr<paged_upstream> source = std::make_shared<paged_upstream>();
  divided_pool<tlsf> pool{
      source, [this] { return events; }, 2, {.limit_bytes = 4_MiB, .region_bytes = 1_MiB}};
};

TEST_F(divided_pool_with_streams, a_part_that_one_stream_uses_records_no_event) {
  EXPECT_EQ(events->recorded, 0);
}

TEST_F(divided_pool_with_streams, memory_goes_to_another_part_when_its_stream_is_done) {
  in_a_thread([&] { EXPECT_NE(pool.try_allocate(3_MiB, 256, one), nullptr); });
  EXPECT_TRUE(events->is_safe(one, two, 1));
  EXPECT_EQ(events->finished[two], 1u);
}

TEST_F(divided_pool_with_streams, a_hole_of_another_part_is_used_behind_its_stream) {
  // The third thread is in the part of the first one.
  in_a_thread([&] {
    EXPECT_NE(pool.try_allocate(1_MiB, 256, one), nullptr);
    EXPECT_FALSE(events->is_safe(one, two, 1));
    EXPECT_NE(pool.try_allocate(1_MiB, 256, one), nullptr) << "which its own hole has no more";
  });
  EXPECT_TRUE(events->is_safe(one, two, 1));
  EXPECT_EQ(pool.check(), std::nullopt);
}

TEST_F(divided_pool_with_streams, nothing_is_waited_for_while_the_stream_is_captured) {
  events->captured.insert(one);
  in_a_thread([&] { EXPECT_EQ(pool.try_allocate(3_MiB, 256, one), nullptr); });
  EXPECT_EQ(events->blocked, 0);
  events->captured.clear();
  in_a_thread([&] { EXPECT_NE(pool.try_allocate(3_MiB, 256, one), nullptr); });
}

TEST(divided_pool, trim_keeps_as_much_as_it_was_told_over_all_parts) {
  const auto source = std::make_shared<counted_upstream>();
  const auto pool = divided(source, 4, {.region_bytes = 1_MiB});
  for (int thread = 0; thread < 4; ++thread) {
    in_a_thread(
        [&] { pool->deallocate(pool->allocate(256, 256, stream_id::none), stream_id::none); });
  }
  EXPECT_EQ(pool->trim(2_MiB), 2_MiB);
  EXPECT_EQ(source->held(), 2_MiB);
  EXPECT_EQ(pool->trim(0), 2_MiB);
  EXPECT_EQ(source->held(), 0u);
}

TEST(divided_pool, blocks_are_visited_in_the_order_of_their_addresses) {
  const auto pool = divided(std::make_shared<counted_upstream>(), 4, {.region_bytes = 1_MiB});
  for (int thread = 0; thread < 8; ++thread) {
    in_a_thread([&] { pool->allocate(256, 256, stream_id::none); });
  }
  address last = 0;
  std::size_t used_blocks = 0;
  pool->for_each_block([&](extent block, bool used) {
    EXPECT_LT(last, block.base);
    last = block.base;
    used_blocks += used;
  });
  EXPECT_EQ(used_blocks, 8u);
}

TEST(divided_pool, each_part_has_events_and_its_share_of_the_start) {
  const auto source = std::make_shared<counted_upstream>();
  int made = 0;
  const pool_type pool(source,
                       [&] {
                         ++made;
                         return std::make_shared<no_events>();
                       },
                       4, {.initial_bytes = 8_MiB});
  EXPECT_EQ(made, 5) << "and one to ask whether a stream is captured";
  EXPECT_EQ(source->regions(), 4u);
  EXPECT_EQ(source->held(), 8_MiB);
  EXPECT_THROW(divided(source, 0), invalid_argument);
  EXPECT_THROW(divided(source, pool_type::most_parts + 1), invalid_argument);
}

}  // namespace
}  // namespace warpheap::host
