// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/sync/bulk_semaphore.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using sync::bulk_semaphore;

TEST(bulk_semaphore, takes_what_there_is_and_no_more) {
  std::uint64_t word = bulk_semaphore::initial(10);
  const bulk_semaphore units(word);
  EXPECT_EQ(units.take_up_to(4), 4u);
  EXPECT_EQ(units.take_up_to(5), 5u);
  EXPECT_EQ(units.take_up_to(4), 1u);
  EXPECT_EQ(units.take_up_to(4), 0u);
  EXPECT_EQ(word, bulk_semaphore::initial(0));
  units.signal(3);
  EXPECT_EQ(word, bulk_semaphore::initial(3));
}

TEST(bulk_semaphore, what_is_borrowed_stays_expected) {
  std::uint64_t word = bulk_semaphore::initial(10);
  const bulk_semaphore units(word);
  EXPECT_FALSE(units.borrow_all(11));
  EXPECT_EQ(word, bulk_semaphore::initial(10));
  ASSERT_TRUE(units.borrow_all(6));
  EXPECT_EQ(units.read().count, 4);
  EXPECT_EQ(units.read().expected(), 10);
  // Others get what is there, and are told to wait for the rest.
  const auto asked = units.ask(5, 8);
  EXPECT_EQ(asked.granted, 4u);
  EXPECT_TRUE(asked.covered);
  EXPECT_EQ(asked.batches, 0u);
  EXPECT_TRUE(units.decline(asked)) << "what is borrowed may come back";
  EXPECT_EQ(units.borrow_up_to(2), 0u);
  units.deliver(6, 4);
  EXPECT_EQ(word, bulk_semaphore::initial(4));
  EXPECT_EQ(units.borrow_up_to(7), 4u);
  EXPECT_EQ(units.read().expected(), 4);
  units.deliver(4, 0);
  EXPECT_EQ(word, bulk_semaphore::initial(0));
}

// At the end of memory 31 pages serve 31 of 32 requests.
TEST(bulk_semaphore, grants_a_part) {
  std::uint64_t word = bulk_semaphore::initial(31);
  const bulk_semaphore units(word);
  const auto asked = units.ask(32, 512);
  EXPECT_EQ(asked.granted, 31u);
  EXPECT_EQ(asked.missing, 1u);
  EXPECT_EQ(asked.batches, 1u);
  EXPECT_FALSE(units.decline(asked)) << "nothing is there or expected";
  EXPECT_EQ(word, bulk_semaphore::initial(0));
}

// Callers that come one after another before a lane has promised anything: one of sixteen has to
// grow.
TEST(bulk_semaphore, a_batch_is_made_once) {
  std::uint64_t word = bulk_semaphore::initial(0);
  const bulk_semaphore units(word);
  std::vector<bulk_semaphore::answer> asked;
  std::uint32_t batches = 0;
  for (int i = 0; i < 64; ++i) {
    asked.push_back(units.ask(32, 512));
    batches += asked.back().batches;
    EXPECT_FALSE(asked.back().covered);
  }
  EXPECT_EQ(batches, 64u * 32 / 512);
  // They promise, and the others are covered from then on.
  std::uint64_t for_others = 0;
  for (const auto& a : asked) {
    if (a.batches != 0) {
      EXPECT_EQ(units.promise(a, 512), 32u);
      for_others += 512 - 32;
    } else {
      units.decline(a);
    }
  }
  EXPECT_EQ(units.read().count, 0);
  EXPECT_EQ(units.read().balance, static_cast<std::int64_t>(for_others));
  EXPECT_TRUE(units.ask(32, 512).covered);
}

TEST(bulk_semaphore, who_has_waited_in_vain_grows) {
  std::uint64_t word = bulk_semaphore::initial(0);
  const bulk_semaphore units(word);
  const auto first = units.ask(1, 16);
  EXPECT_EQ(first.batches, 1u);
  const auto second = units.ask(1, 16);
  EXPECT_EQ(second.batches, 0u) << "the first caller's batch is enough for both";
  EXPECT_FALSE(units.decline(second));
  EXPECT_EQ(units.ask(1, 16, true).batches, 1u);
}

TEST(bulk_semaphore, who_gives_up_learns_of_units_that_came_meanwhile) {
  std::uint64_t word = bulk_semaphore::initial(3);
  const bulk_semaphore units(word);
  const auto asked = units.ask(5, 16);
  EXPECT_EQ(asked.missing, 2u);
  units.signal(1);
  EXPECT_TRUE(units.decline(asked));
  EXPECT_EQ(word, bulk_semaphore::initial(1));
}

TEST(bulk_semaphore, a_promise_that_fails_leaves_nothing_behind) {
  std::uint64_t word = bulk_semaphore::initial(5);
  const bulk_semaphore units(word);
  const auto asked = units.ask(8, 512);
  EXPECT_EQ(asked.granted, 5u);
  EXPECT_EQ(units.promise(asked, 512), 3u);
  EXPECT_EQ(units.read().expected(), 509);
  units.deliver(509, 0);
  EXPECT_EQ(word, bulk_semaphore::initial(0));
}

// As many units waited for as a large GPU can have resident threads, and more pages than a heap of
// 500 GB has: 14 bits for waiting units, as in the published layout, would not hold them.
TEST(bulk_semaphore, counts_of_large_machines_and_heaps_fit) {
  std::uint64_t word = bulk_semaphore::initial(0);
  const bulk_semaphore units(word);
  for (int i = 0; i < 300'000; ++i) units.ask(1, 1);
  EXPECT_EQ(units.read().count, -300'000);
  EXPECT_EQ(units.read().balance, 0);
  units.signal(300'000);
  EXPECT_EQ(word, bulk_semaphore::initial(0));

  constexpr std::int64_t pages = std::int64_t{500'000'000'000} / 16;
  units.signal(pages);
  EXPECT_EQ(units.read().count, pages);
  EXPECT_EQ(units.read().balance, 0);
  // 100 lanes that each undertake to make a million.
  std::uint64_t expecting = bulk_semaphore::initial(0);
  const bulk_semaphore others(expecting);
  std::vector<bulk_semaphore::answer> asked;
  for (int i = 0; i < 100; ++i) asked.push_back(others.ask(1, 1u << 20, true));
  for (const auto& a : asked) others.promise(a, 1u << 20);
  EXPECT_EQ(others.read().balance, 100 * ((1 << 20) - 1));
  EXPECT_EQ(others.read().count, 0);
}

// A model with three plain numbers.
TEST(bulk_semaphore, agrees_with_three_numbers) {
  random_sequence random(20261121);
  std::uint64_t word = bulk_semaphore::initial(0);
  const bulk_semaphore units(word);
  std::int64_t count = 0;
  std::vector<std::uint32_t> promised;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t n = 1 + random.below(40);
    switch (random.below(4)) {
      case 0:
        units.signal(n);
        count += n;
        break;
      case 1: {
        const std::uint32_t got = units.take_up_to(n);
        ASSERT_EQ(got, std::min<std::int64_t>(n, count));
        count -= got;
        break;
      }
      case 2: {
        std::int64_t expected = count;
        for (const std::uint32_t p : promised) expected += p;
        const auto asked = units.ask(n, 16);
        ASSERT_EQ(asked.granted, std::min<std::int64_t>(n, count));
        count -= asked.granted;
        if (asked.missing == 0) break;
        ASSERT_EQ(asked.covered, expected >= n);
        ASSERT_EQ(asked.batches == 0, asked.covered);
        if (asked.batches == 0) {
          units.decline(asked);
        } else {
          const std::uint32_t kept = units.promise(asked, 16);
          ASSERT_LE(kept, asked.missing);
          promised.push_back(asked.batches * 16 - kept);
        }
        break;
      }
      default:
        if (promised.empty()) break;
        const std::uint32_t made = random.below(promised.back() + 1);
        units.deliver(promised.back(), made);
        count += made;
        promised.pop_back();
    }
    std::int64_t balance = 0;
    for (const std::uint32_t p : promised) balance += p;
    ASSERT_EQ(units.read().count, count);
    ASSERT_EQ(units.read().balance, balance);
  }
}

/// One lane makes exactly what the other waits for, and takes its time.
struct late_delivery {
  std::uint64_t word;
  std::uint32_t granted;
  void lane() {
    const bulk_semaphore units(word);
    if (simt::thread_rank() == 0) {
      const auto asked = units.ask(1, 2);
      units.promise(asked, 2);
      for (int i = 0; i < 60; ++i) simt::backoff(1);
      units.deliver(1, 1);
    } else {
      while (units.read().balance == 0) simt::backoff(1);
      const auto asked = units.ask(1, 2);
      granted = units.await(asked);
    }
  }
};

// A lane that waits for exactly what is expected must go on waiting: C + E - R = 0 is enough.
TEST(bulk_semaphore, an_exactly_matched_waiter_waits) {
  simt::explorer explorer({1, 2});
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    late_delivery world{bulk_semaphore::initial(0), 0};
    const auto outcome = explorer.run({simt::strategy::uniform, seed}, [&world] { world.lane(); });
    ASSERT_EQ(outcome.stuck, "") << "seed " << seed;
    ASSERT_EQ(world.granted, 1u) << "seed " << seed;
    ASSERT_EQ(world.word, bulk_semaphore::initial(0)) << "seed " << seed;
  }
}

// Of three units that a lane waits for, two come.
TEST(bulk_semaphore, a_waiter_that_gets_a_part_leaves_nothing_behind) {
  simt::explorer explorer({1, 2});
  int parts = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::uint64_t word = bulk_semaphore::initial(0);
    std::uint32_t granted = 0;
    const auto outcome = explorer.run({simt::strategy::uniform, seed}, [&] {
      const bulk_semaphore units(word);
      if (simt::thread_rank() == 0) {
        while (units.read().balance == 0) simt::backoff(1);
        units.signal(2);
      } else {
        granted = units.await(units.ask(3, 16));
      }
    });
    ASSERT_EQ(outcome.stuck, "") << "seed " << seed;
    ASSERT_EQ(word, bulk_semaphore::initial(2 - granted)) << "seed " << seed;
    parts += granted == 2 ? 1 : 0;
  }
  EXPECT_GT(parts, 20);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
