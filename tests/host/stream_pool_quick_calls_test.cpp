// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that neither wait nor call the driver: what they do, what they leave to the others, and
// that a pool cannot tell which of them served a call.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "fake_events.hpp"
#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/pools/divided_pool.hpp"
#include "warpheap/host/streams/pending_blocks.hpp"

namespace warpheap::host {
namespace {

/// Knows where an address is, in numbers that two pools have in common: regions begin at equal
/// distances, the lowest free one first, because a pool may prefer blocks by their addresses.
class numbered_upstream final : public upstream {
 public:
  ~numbered_upstream() override { source_.deallocate(all_, most * room); }

  void* allocate(std::size_t bytes) override {
    ++calls;
    const auto free = std::find(held_.begin(), held_.end(), false);
    if (bytes > room || free == held_.end()) return nullptr;
    *free = true;
    return at(all_, static_cast<std::size_t>(free - held_.begin()) * room);
  }
  void deallocate(void* memory, std::size_t) noexcept override {
    held_[place_of(memory).first - 1] = false;
  }
  std::string_view name() const override { return "numbered"; }

  /// Numbers of the region and of the byte in it.
  std::pair<std::size_t, std::size_t> place_of(const void* memory) const {
    if (memory == nullptr) return {};
    const std::size_t offset = reinterpret_cast<address>(memory) - reinterpret_cast<address>(all_);
    return {offset / room + 1, offset % room};
  }

  std::size_t calls = 0;

 private:
  static constexpr std::size_t room = 16_MiB;
  static constexpr std::size_t most = 16;

  reserved_pages_upstream source_{2_MiB, most* room};
  void* all_ = source_.allocate(most * room);
  std::array<bool, most> held_{};
};

void expect_equal(const pool_stats& a, const pool_stats& b) {
  using fields = std::array<std::uint64_t, sizeof(pool_stats) / sizeof(std::uint64_t)>;
  EXPECT_EQ(std::bit_cast<fields>(a), std::bit_cast<fields>(b)) << "in the order of pool_stats.h";
}

class quick_calls : public testing::TestWithParam<std::string> {
 protected:
  struct side {
    std::shared_ptr<numbered_upstream> source = std::make_shared<numbered_upstream>();
    std::shared_ptr<fake_events> events = std::make_shared<fake_events>();
    std::unique_ptr<pool_interface> pool;
  };
  static side make(pool_options options) {
    side made;
    made.pool = make_pool(GetParam(), made.source, made.events, options);
    return made;
  }

  // The pool is used by streams one and two, and nothing that either freed before matters.
  void share() {
    void* const mine = pool->try_allocate(5000, 256, one);
    pool->deallocate(pool->try_allocate(5000, 256, two), two);
    pool->deallocate(mine, one);
    events->finish(one);
    events->finish(two);
    ASSERT_NE(kept = pool->try_allocate(256, 256, two), nullptr);
  }

  side all = make({.initial_bytes = 2_MiB, .limit_bytes = 2_MiB});
  std::unique_ptr<pool_interface>& pool = all.pool;
  std::shared_ptr<fake_events>& events = all.events;
  void* kept = nullptr;
};

INSTANTIATE_TEST_SUITE_P(all, quick_calls, testing::ValuesIn(all_policy_names()),
                         [](const auto& test) { return test.param; });

TEST_P(quick_calls, the_stream_that_owns_the_pool_has_its_blocks_quickly) {
  EXPECT_EQ(pool->allocate_quickly(5000, 256, one), nullptr) << "no stream owns a new pool";
  void* const first = pool->try_allocate(5000, 256, one);
  const pool_stats before = pool->stats();
  ASSERT_TRUE(pool->deallocate_quickly(first, one));
  EXPECT_EQ(pool->stats().blocks, 0u);
  EXPECT_EQ(pool->usable_bytes(first), 0u);
  ASSERT_EQ(pool->allocate_quickly(5000, 256, one), first);
  EXPECT_EQ(pool->stats().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(pool->stats().allocations, 2u);
  EXPECT_EQ(pool->stats().deallocations, 1u);
  EXPECT_EQ(events->recorded, 0);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(quick_calls, another_stream_is_left_to_the_calls_that_record_events) {
  void* const block = pool->try_allocate(5000, 256, one);
  const pool_stats before = pool->stats();
  for (const stream_id other : {two, stream_id::none, stream_id::per_thread}) {
    EXPECT_EQ(pool->allocate_quickly(5000, 256, other), nullptr);
    EXPECT_FALSE(pool->deallocate_quickly(block, other));
  }
  expect_equal(pool->stats(), before);
  EXPECT_EQ(events->recorded, 0);
  EXPECT_TRUE(pool->deallocate_quickly(block, one)) << "stream one still owns the pool";
}

TEST_P(quick_calls, a_stream_of_a_shared_pool_has_what_no_stream_has_used) {
  share();
  const pool_stats before = pool->stats();
  EXPECT_NE(pool->allocate_quickly(100000, 256, one), nullptr);
  EXPECT_EQ(pool->stats().allocations, before.allocations + 1);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(quick_calls, a_stream_of_a_shared_pool_has_its_own_blocks_back) {
  share();
  void* const block = pool->try_allocate(100000, 256, one);
  events->submit(one);
  const int recorded = events->recorded;
  ASSERT_TRUE(pool->deallocate_quickly(block, one));
  EXPECT_FALSE(pool->deallocate_quickly(block, one)) << "freed twice while pending";
  EXPECT_FALSE(pool->deallocate_quickly(block, two));
  EXPECT_EQ(pool->usable_bytes(block), 0u);
  EXPECT_GE(pool->stats().pending_bytes, 100000u);
  EXPECT_NE(pool->allocate_quickly(100000, 256, two), block) << "stream one may still use it";
  EXPECT_EQ(pool->allocate_quickly(100000, 256, one), block);
  // Each thread has another stream of this name, and what is freed in no stream waits for none.
  for (const stream_id special : {stream_id::per_thread, stream_id::none}) {
    EXPECT_EQ(pool->allocate_quickly(5000, 256, special), nullptr);
    EXPECT_FALSE(pool->deallocate_quickly(block, special));
  }
  EXPECT_EQ(events->recorded, recorded);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(quick_calls, memory_behind_a_fence_is_left_to_the_calls_that_wait) {
  void* const block = pool->try_allocate(1_MiB - 256, 256, one);
  ASSERT_NE(block, nullptr);
  events->submit(one);
  pool->deallocate(block, one);
  void* const small = pool->try_allocate(256, 256, two);  // shares the pool: a fence after `one`
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(pool->allocate_quickly(100000, 256, three), nullptr);
  EXPECT_TRUE(events->waited.find({three, one}) == events->waited.end());
  ASSERT_NE(pool->try_allocate(100000, 256, three), nullptr);
  EXPECT_TRUE(events->is_safe(three, one, 1));
}

TEST_P(quick_calls, what_the_pool_does_not_have_is_not_a_failure_yet) {
  share();
  for (const stream_id stream : {one, two}) {
    const pool_stats before = pool->stats();
    const std::size_t calls = all.source->calls;
    EXPECT_EQ(pool->allocate_quickly(64_MiB, 256, stream), nullptr);
    EXPECT_EQ(pool->allocate_quickly(0, 256, stream), nullptr);
    EXPECT_EQ(pool->allocate_quickly(~std::size_t{0}, 256, stream), nullptr);
    for (const std::size_t alignment : {0, 3, 384}) {
      EXPECT_EQ(pool->allocate_quickly(1000, alignment, stream), nullptr);
    }
    EXPECT_FALSE(pool->deallocate_quickly(at(kept, 1), stream));
    EXPECT_FALSE(pool->deallocate_quickly(&all, stream));
    expect_equal(pool->stats(), before);
    EXPECT_EQ(all.source->calls, calls);
  }
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(quick_calls, a_lock_that_another_thread_has_is_not_waited_for) {
  void* const block = pool->try_allocate(5000, 256, one);
  int tried = 0;
  // The visitor runs under the pool's lock.
  pool->for_each_block([&](extent, bool) {
    if (tried++ != 0) return;
    std::thread([&] {
      EXPECT_EQ(pool->allocate_quickly(5000, 256, one), nullptr);
      EXPECT_FALSE(pool->deallocate_quickly(block, one));
    }).join();
  });
  EXPECT_GT(tried, 0);
  EXPECT_TRUE(pool->deallocate_quickly(block, one));
}

TEST_P(quick_calls, a_stream_that_is_alone_again_owns_the_pool_as_soon_as_with_the_others) {
  std::vector<int> until_owned;
  for (const bool quick : {true, false}) {
    all = make({.initial_bytes = 2_MiB, .limit_bytes = 2_MiB});
    share();
    int pairs = 0;
    do {
      ASSERT_LT(++pairs, 2000);
      void* block = quick ? pool->allocate_quickly(7000, 256, two) : nullptr;
      if (block == nullptr) block = pool->try_allocate(7000, 256, two);
      if (!quick || !pool->deallocate_quickly(block, two)) pool->deallocate(block, two);
    } while (pool->stats().pending_blocks != 0);
    until_owned.push_back(pairs);
  }
  EXPECT_GT(until_owned[0], 500);
  EXPECT_EQ(until_owned[0], until_owned[1]);
}

TEST_P(quick_calls, the_pool_cannot_tell_quick_calls_from_the_others) {
  const pool_options options{.initial_bytes = 1_MiB, .limit_bytes = 6_MiB, .region_bytes = 1_MiB};
  side mixed = make(options);
  side slow = make(options);
  std::mt19937_64 random(71);
  const stream_id names[] = {one, two, three, stream_id::legacy_default, stream_id::none};
  std::vector<std::pair<void*, void*>> held;
  int served = 0;
  for (int step = 0; step < steps(16000); ++step) {
    // Phases in which one stream is alone, long enough to own the pool again, and mixed ones.
    const int phase = step / steps(2500);
    const stream_id stream = phase % 2 == 0 ? names[random() % 5] : names[phase % 4];
    const bool works = random() % 3 == 0;
    const bool finishes = random() % 40 == 0;
    const stream_id finished = names[random() % 4];
    for (const side* each : {&mixed, &slow}) {
      if (works) each->events->submit(stream);
      if (finishes) each->events->finish(finished);
    }
    const bool tries = random() % 4 != 0;
    const int calls = mixed.events->calls;
    if (held.size() < 60 && (random() % 2 == 0 || held.empty())) {
      const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 400000 : 30000);
      void* got = tries ? mixed.pool->allocate_quickly(bytes, 256, stream) : nullptr;
      ASSERT_EQ(mixed.events->calls, calls) << "step " << step;
      served += got != nullptr;
      if (got == nullptr) got = mixed.pool->try_allocate(bytes, 256, stream);
      void* const wanted = slow.pool->try_allocate(bytes, 256, stream);
      ASSERT_EQ(mixed.source->place_of(got), slow.source->place_of(wanted)) << "step " << step;
      if (got != nullptr) held.emplace_back(got, wanted);
    } else {
      std::swap(held[random() % held.size()], held.back());
      const auto [block, other] = held.back();
      held.pop_back();
      const bool done = tries && mixed.pool->deallocate_quickly(block, stream);
      ASSERT_EQ(mixed.events->calls, calls) << "step " << step;
      served += done;
      if (!done) mixed.pool->deallocate(block, stream);
      slow.pool->deallocate(other, stream);
    }
    if (step % 500 == 0) {
      ASSERT_EQ(mixed.pool->check(), std::nullopt) << "step " << step;
    }
    expect_equal(mixed.pool->stats(), slow.pool->stats());
    ASSERT_EQ(mixed.events->recorded, slow.events->recorded) << "step " << step;
    ASSERT_EQ(mixed.events->waited, slow.events->waited) << "step " << step;
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
  EXPECT_GT(served, steps(16000) / 4);
  for (const auto& [block, other] : held) {
    if (!mixed.pool->deallocate_quickly(block, one)) mixed.pool->deallocate(block, one);
    slow.pool->deallocate(other, one);
  }
  expect_equal(mixed.pool->stats(), slow.pool->stats());
  EXPECT_EQ(mixed.pool->stats().blocks, 0u) << "nothing leaks";
}

TEST(pending_blocks, say_whether_the_next_one_would_record_an_event) {
  fake_events events;
  pending_blocks pending({256}, events);
  int closed = 0;
  for (std::size_t n = 0; n < 100; ++n) {
    const int recorded = events.recorded;
    const bool closes = pending.closes_with_next(one);
    pending.add(one, one, {0x10000 + 512 * n, 256});
    ASSERT_EQ(events.recorded - recorded, closes ? 1 : 0) << n;
    closed += closes;
    // A look at an open batch makes it old.
    if (n == 70) pending.retire_happened([](extent) {});
  }
  EXPECT_EQ(closed, 3) << "two that are full, one that is old";
}

TEST(quick_calls_in_parts, a_block_of_another_part_is_left_to_the_calls_that_search_for_it) {
  divided_pool<tlsf> pool(std::make_shared<counted_upstream>(),
                          [] { return std::make_shared<no_events>(); }, 2, {.region_bytes = 1_MiB});
  void* foreign = nullptr;
  std::thread([&] { foreign = pool.allocate(1000, 256, one); }).join();
  std::thread([&] {
    void* const own = pool.allocate(1000, 256, one);
    EXPECT_FALSE(pool.deallocate_quickly(foreign, one));
    EXPECT_EQ(pool.stats().blocks, 2u);
    EXPECT_TRUE(pool.deallocate_quickly(own, one));
    EXPECT_EQ(pool.allocate_quickly(1000, 256, one), own);
    EXPECT_EQ(pool.allocate_quickly(4_MiB, 256, one), nullptr);
    pool.deallocate(foreign, one);
  }).join();
  EXPECT_EQ(pool.stats().blocks, 1u);
  EXPECT_EQ(pool.stats().allocations, 3u);
  EXPECT_EQ(pool.stats().deallocations, 2u);
  EXPECT_EQ(pool.stats().failures, 0u);
  EXPECT_EQ(pool.check(), std::nullopt);
}

}  // namespace
}  // namespace warpheap::host
