// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reuse across streams, with events that happen when the test says so.
#include <gtest/gtest.h>

#include <random>

#include "fake_events.hpp"
#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"

namespace warpheap::host {
namespace {

class streams : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<pool_interface> make(pool_options options = {}) {
    source = std::make_shared<counted_upstream>(1_GiB);
    events = std::make_shared<fake_events>();
    return make_pool(GetParam(), source, events, options);
  }

  /// All that stream two can still have of a pool, each block behind the events of stream one.
  std::vector<void*> take_behind_events(pool_interface& pool) const {
    std::vector<void*> blocks;
    while (void* block = pool.try_allocate(200000, 256, two)) blocks.push_back(block);
    EXPECT_FALSE(blocks.empty());
    EXPECT_TRUE(events->is_safe(two, one, 1));
    EXPECT_EQ(events->blocked, 0) << "the waiting is the stream's, not the caller's";
    return blocks;
  }

  std::shared_ptr<counted_upstream> source;
  std::shared_ptr<fake_events> events;
};

INSTANTIATE_TEST_SUITE_P(all, streams, testing::ValuesIn(all_policy_names()),
                         [](const auto& test) { return test.param; });

TEST_P(streams, one_stream_reuses_at_once_and_records_nothing) {
  const auto pool = make();
  void* first = pool->try_allocate(1_MiB, 256, one);
  for (int n = 0; n < 100; ++n) {
    events->submit(one);
    pool->deallocate(first, one);
    ASSERT_EQ(pool->try_allocate(1_MiB, 256, one), first);
  }
  pool->deallocate(first, one);
  EXPECT_EQ(events->recorded, 0);
}

TEST_P(streams, what_one_stream_freed_another_gets_only_behind_an_event) {
  const auto pool = make({.initial_bytes = 2_MiB, .limit_bytes = 2_MiB});
  // As much as one block can be: whatever the second stream gets must overlap it.
  void* block = pool->try_allocate(1_MiB - 256, 256, one);
  ASSERT_NE(block, nullptr);
  void* rest = pool->try_allocate(512_KiB, 256, one);
  events->submit(one);
  pool->deallocate(block, one);
  for (void* other : take_behind_events(*pool)) pool->deallocate(other, two);
  pool->deallocate(rest, two);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(streams, a_stream_has_its_own_freed_block_back_before_any_event) {
  const auto pool = make();
  void* a = pool->try_allocate(100000, 256, one);
  void* b = pool->try_allocate(100000, 256, two);
  events->submit(one);
  events->submit(two);
  pool->deallocate(a, one);
  EXPECT_EQ(pool->stats().pending_blocks, 1u);
  void* other = pool->try_allocate(100000, 256, two);
  EXPECT_NE(other, a) << "nothing happened yet in stream one";
  EXPECT_EQ(pool->try_allocate(100000, 256, one), a);
  EXPECT_EQ(pool->stats().pending_blocks, 0u);
  pool->deallocate(a, one);
  EXPECT_THROW(pool->deallocate(a, one), invalid_argument) << "freed twice while pending";
  EXPECT_THROW(pool->deallocate(a, two), invalid_argument);
  EXPECT_THROW(pool->deallocate(a, stream_id::none), invalid_argument);
  EXPECT_THROW(pool->truncate(a, 256), invalid_argument) << "it is nobody's while it is pending";
  EXPECT_EQ(pool->usable_bytes(a), 0u);
  EXPECT_EQ(pool->check(), std::nullopt);
  pool->deallocate(b, two);
  pool->deallocate(other, two);
  EXPECT_EQ(pool->check(), std::nullopt);
}

// Many small requests would else leave little of a large block that other sizes need.
TEST(streams_of_tlsf, a_stream_has_no_block_back_that_is_more_than_an_eighth_too_large) {
  const auto events = std::make_shared<fake_events>();
  const auto pool = make_pool("tlsf", std::make_shared<counted_upstream>(), events);
  void* const large = pool->try_allocate(10 * 256, 256, one);
  ASSERT_NE(pool->try_allocate(256, 256, two), nullptr);
  for (const std::size_t size : {9, 8}) {
    events->submit(one);
    pool->deallocate(large, one);
    ASSERT_EQ(pool->stats().pending_blocks, 1u);
    EXPECT_EQ(pool->try_allocate(size * 256, 256, one) == large, size == 9) << size;
  }
}

TEST_P(streams, an_owner_that_was_destroyed_is_not_asked) {
  {
    const auto pool = make({.initial_bytes = 2_MiB, .limit_bytes = 2_MiB});
    void* block = pool->try_allocate(1_MiB - 256, 256, one);
    ASSERT_NE(block, nullptr);
    events->submit(one);
    pool->deallocate(block, one);
    events->destroy(one);
    for (void* other : take_behind_events(*pool)) pool->deallocate(other, two);
  }
  {
    const auto pool = make();
    pool->deallocate(pool->try_allocate(5000, 256, one), one);
    events->submit(one);
    events->destroy(one);
    EXPECT_GT(pool->trim(0), 0u);
    EXPECT_EQ(events->finished[one], 1u);
    pool->deallocate(pool->try_allocate(5000, 256, two), two);
    events->destroy(two);
  }
  EXPECT_EQ(events->live, 0);
}

TEST_P(streams, a_guest_that_was_destroyed_is_not_asked) {
  const auto pool = make({.initial_bytes = 2_MiB, .limit_bytes = 2_MiB});
  void* mine = pool->try_allocate(5000, 256, two);
  void* block = pool->try_allocate(1_MiB - 256, 256, one);
  ASSERT_NE(block, nullptr);
  events->submit(one);
  pool->deallocate(block, one);
  EXPECT_EQ(pool->stats().pending_blocks, 1u);
  events->destroy(one);
  const std::vector<void*> others = take_behind_events(*pool);
  EXPECT_EQ(pool->stats().pending_blocks, 0u);
  for (void* other : others) pool->deallocate(other, two);
  pool->deallocate(mine, two);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(streams, blocks_of_a_stream_that_was_destroyed_do_not_pend_forever) {
  const auto pool = make();
  void* mine = pool->try_allocate(5000, 256, two);
  void* block = pool->try_allocate(5000, 256, one);
  pool->deallocate(block, one);
  EXPECT_EQ(pool->stats().pending_blocks, 1u);
  events->destroy(one);
  for (int n = 0; n < 4000; ++n) {
    pool->deallocate(pool->try_allocate(7000, 256, two), two);
  }
  EXPECT_EQ(pool->stats().pending_blocks, 0u) << "stream two owns the pool";
  pool->deallocate(mine, two);
}

TEST_P(streams, random_calls_never_hand_out_memory_that_is_still_in_use) {
  const auto pool = make({.limit_bytes = 8_MiB, .region_bytes = 1_MiB});
  std::mt19937_64 random(53);
  const stream_id all[] = {one, two, three, stream_id::legacy_default, stream_id::none};
  struct freed {
    stream_id stream;
    std::uint64_t work;
  };
  // For each granule: who freed it last, and after how much work.
  std::map<address, freed> last;
  std::map<address, std::size_t> held;
  for (int step = 0; step < steps(40000); ++step) {
    // Phases in which one stream is alone take turns with mixed ones.
    const int phase = step / steps(3000);
    const stream_id stream = phase % 2 == 0 ? all[random() % 5] : all[phase % 4];
    if (random() % 100 == 0) events->destroy(all[random() % 3]);
    events->create(stream);
    if (random() % 3 == 0 && stream != stream_id::none) events->submit(stream);
    if (random() % 50 == 0) events->finish(all[random() % 4]);
    if (held.size() < 60 && (random() % 2 == 0 || held.empty())) {
      void* block = pool->try_allocate(1 + random() % 100000, 256, stream);
      if (block == nullptr) continue;
      const auto base = reinterpret_cast<address>(block);
      const std::size_t bytes = pool->usable_bytes(block);
      for (address granule = base; granule < base + bytes; granule += 256) {
        const auto before = last.find(granule);
        if (before == last.end()) continue;
        ASSERT_TRUE(events->is_safe(stream, before->second.stream, before->second.work))
            << "step " << step;
        last.erase(before);
      }
      held[base] = bytes;
    } else {
      auto block = held.begin();
      std::advance(block, random() % held.size());
      pool->deallocate(reinterpret_cast<void*>(block->first), stream);
      for (address granule = block->first; granule < block->first + block->second; granule += 256) {
        last[granule] = {stream, events->submitted[stream]};
      }
      held.erase(block);
    }
    if (step % 500 == 0) {
      ASSERT_EQ(pool->check(), std::nullopt) << "step " << step;
    }
  }
  EXPECT_EQ(pool->stats().blocks, held.size());
  pool->trim(0);
  EXPECT_EQ(events->live, 0) << "events leak";
}

TEST_P(streams, what_one_stream_is_done_with_is_taken_before_another_is_waited_for) {
  const auto pool = make({.initial_bytes = 2_MiB, .limit_bytes = 2_MiB});
  std::vector<void*> blocks;
  while (void* block = pool->try_allocate(16_KiB, 256, one)) blocks.push_back(block);
  ASSERT_GT(blocks.size(), 33u);
  events->submit(one);
  pool->deallocate(blocks.back(), two);
  events->submit(two);
  // So many that most are behind events, which are not recorded for each one.
  for (std::size_t n = 0; n < 32; ++n) pool->deallocate(blocks[n], one);
  ASSERT_EQ(pool->stats().pending_blocks, 33u);
  events->finish(one);
  EXPECT_NE(pool->try_allocate(16_KiB, 256, three), nullptr);
  EXPECT_GT(pool->stats().pending_blocks, 0u) << "at least that of stream two is";
  EXPECT_TRUE(events->waited.empty()) << "stream three waits for stream two";
}

TEST_P(streams, alternating_streams_merge_everything_and_buy_nothing) {
  const auto pool = make({.initial_bytes = 2_MiB, .limit_bytes = 1_GiB, .region_bytes = 1_MiB});
  // A block that an empty pool of 2 MiB serves in every policy, in turns, with all work unfinished.
  for (int round = 0; round < 200; ++round) {
    const stream_id stream = round % 2 == 0 ? one : two;
    std::vector<void*> small;
    for (int n = 0; n < 40; ++n) small.push_back(pool->try_allocate(5000 + n * 100, 256, stream));
    events->submit(stream);
    for (void* block : small) pool->deallocate(block, stream);
    void* large = pool->try_allocate(900000, 256, round % 3 == 0 ? one : two);
    ASSERT_NE(large, nullptr);
    events->submit(stream);
    pool->deallocate(large, stream);
    ASSERT_EQ(pool->stats().reserved_bytes, 2_MiB) << "round " << round;
  }
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(streams, a_stream_that_is_alone_again_owns_the_pool_again) {
  const auto pool = make();
  void* a = pool->try_allocate(5000, 256, one);
  void* b = pool->try_allocate(5000, 256, two);
  pool->deallocate(a, one);
  pool->deallocate(b, two);
  events->finish(one);
  for (int n = 0; n < 3000; ++n) {
    events->submit(two);
    if (n % 100 == 0) events->finish(two);
    pool->deallocate(pool->try_allocate(7000, 256, two), two);
  }
  const int recorded = events->recorded;
  for (int n = 0; n < 1000; ++n) {
    events->submit(two);
    pool->deallocate(pool->try_allocate(7000, 256, two), two);
  }
  EXPECT_EQ(events->recorded, recorded);
  EXPECT_EQ(pool->stats().pending_blocks, 0u);
  // And a third stream still waits for what the owner freed.
  while (pool->try_allocate(1_MiB, 256, three) != nullptr) {
  }
  EXPECT_TRUE(events->is_safe(three, two, events->submitted[two]));
}

// So many frees in a row make it the owner, and none of them has waited for anything.
TEST_P(streams, an_owner_by_its_frees_alone_is_put_behind_what_others_freed_before) {
  const auto pool = make({.initial_bytes = 2_MiB, .limit_bytes = 2_MiB});
  std::vector<void*> blocks;
  while (blocks.size() < 1101) blocks.push_back(pool->try_allocate(512, 256, one));
  events->submit(one);
  pool->deallocate(blocks.back(), one);
  blocks.pop_back();
  for (void* block : blocks) pool->deallocate(block, two);
  const int recorded = events->recorded;
  ASSERT_NE(pool->try_allocate(512, 256, two), nullptr);
  EXPECT_TRUE(events->is_safe(two, one, 1));
  EXPECT_EQ(events->blocked, 0);
  EXPECT_EQ(events->recorded, recorded);
}

TEST_P(streams, a_stream_that_is_put_behind_another_waits_for_what_is_there) {
  const auto pool = make();
  events->submit(one);
  pool->order(one, two);
  EXPECT_TRUE(events->is_safe(two, one, 1));
  events->submit(one);
  EXPECT_FALSE(events->is_safe(two, one, 2)) << "that came later";
  EXPECT_FALSE(events->is_safe(three, one, 1));
  EXPECT_EQ(events->blocked, 0) << "the waiting is the stream's, not the caller's";
  EXPECT_EQ(events->live, 0);
  const int calls = events->calls;
  pool->order(one, one);
  EXPECT_EQ(events->calls, calls) << "a stream's own work is in order";
}

TEST_P(streams, what_no_stream_uses_is_free_for_all_at_once) {
  const auto pool = make();
  void* mine = pool->try_allocate(5000, 256, one);
  void* other = pool->try_allocate(5000, 256, two);
  const int recorded = events->recorded;
  // More than a batch of pending blocks has.
  for (int n = 0; n < 40; ++n) {
    void* block = pool->try_allocate(100000, 256, two);
    pool->deallocate(block, stream_id::none);
    EXPECT_EQ(pool->stats().pending_blocks, 0u);
    EXPECT_EQ(pool->usable_bytes(block), 0u);
  }
  EXPECT_EQ(events->recorded, recorded);
  pool->deallocate(mine, stream_id::none);
  pool->deallocate(other, stream_id::none);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(streams, memory_for_no_stream_is_waited_for) {
  const auto pool = make({.initial_bytes = 1_MiB, .limit_bytes = 1_MiB});
  void* block = pool->try_allocate(200000, 256, one);
  events->submit(one);
  pool->deallocate(block, one);
  while (pool->try_allocate(100000, 256, stream_id::none) != nullptr) {
  }
  EXPECT_EQ(events->finished[one], 1u) << "the caller was blocked until the stream was done";
}

TEST_P(streams, regions_go_back_for_a_larger_one_only_when_no_stream_uses_them) {
  const auto pool = make({.limit_bytes = 8_MiB, .region_bytes = 1_MiB});
  std::vector<void*> blocks;
  while (void* block = pool->try_allocate(200000, 256, one)) blocks.push_back(block);
  events->submit(one);
  for (void* block : blocks) pool->deallocate(block, one);
  const std::size_t regions = source->regions();
  const std::size_t calls = source->calls();
  void* const large = pool->try_allocate(4_MiB - 256, 256, one);
  if (source->regions() < regions || source->calls() > calls + 1) {
    EXPECT_EQ(events->finished[one], 1u) << "memory went back that a stream may use";
  }
  if (large != nullptr) pool->deallocate(large, one);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(streams, trimming_waits_for_the_streams) {
  const auto pool = make();
  void* block = pool->try_allocate(100000, 256, one);
  events->submit(one);
  pool->deallocate(block, one);
  EXPECT_GT(pool->trim(0), 0u);
  EXPECT_EQ(events->finished[one], 1u);
  EXPECT_EQ(source->held(), 0u);
}

TEST_P(streams, an_owner_remains_one_when_the_pool_was_trimmed) {
  const auto pool = make();
  void* const block = pool->try_allocate(100000, 256, one);
  pool->trim(0);
  events->submit(one);
  pool->deallocate(block, one);
  EXPECT_EQ(pool->stats().pending_blocks, 0u) << "its blocks are free at once";
}

TEST_P(streams, a_pool_that_ends_waits_and_leaks_no_event) {
  {
    const auto pool = make();
    void* a = pool->try_allocate(5000, 256, one);
    void* b = pool->try_allocate(5000, 256, two);
    events->submit(one);
    events->submit(two);
    pool->deallocate(a, one);
    pool->deallocate(b, two);
  }
  EXPECT_EQ(events->live, 0);
  EXPECT_EQ(events->finished[one], 1u);
  EXPECT_EQ(events->finished[two], 1u);
}

TEST_P(streams, each_thread_has_a_per_thread_stream_of_its_own) {
  const auto pool = make();
  void* a = pool->try_allocate(100000, 256, stream_id::per_thread);
  events->submit(stream_id::per_thread);
  pool->deallocate(a, stream_id::per_thread);
  EXPECT_EQ(events->recorded, 1) << "only this thread can name the stream, so now";
  EXPECT_EQ(pool->try_allocate(100000, 256, stream_id::per_thread), a);
  pool->deallocate(a, stream_id::per_thread);
}

}  // namespace
}  // namespace warpheap::host
