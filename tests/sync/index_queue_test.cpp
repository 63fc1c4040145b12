// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "small_index_queues.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <deque>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class Memory>
class index_queues : public ::testing::Test {
 protected:
  void SetUp() override { memory.format(); }

  /// Runs `act()` in a single lane.
  template <class Act>
  static void alone(const Act& act) {
    simt::explorer explorer({1, 1}, 4'000'000);
    const auto outcome = explorer.run({simt::strategy::sticky, 1}, act);
    ASSERT_EQ(outcome.stuck, "");
  }

  Memory memory;
};

using memories = ::testing::Types<static_memory, array_memory<>, list_memory>;
TYPED_TEST_SUITE(index_queues, memories);

TYPED_TEST(index_queues, refuses_when_full_and_gives_nothing_when_empty) {
  this->alone([this] {
    const auto queue = this->memory.queue();
    std::uint64_t value = 0;
    EXPECT_FALSE(queue.pop(value));
    for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(queue.push(i));
    EXPECT_FALSE(queue.push(8));
    for (std::uint64_t i = 0; i < 8; ++i) {
      ASSERT_TRUE(queue.pop(value));
      EXPECT_EQ(value, i);
    }
    EXPECT_FALSE(queue.pop(value));
  });
  EXPECT_EQ(this->memory.problem(0), "");
}

TYPED_TEST(index_queues, agrees_with_a_deque) {
  this->alone([this] {
    random_sequence random(20261121);
    const auto queue = this->memory.queue();
    std::deque<std::uint64_t> oracle;
    for (std::uint64_t step = 0; step < 20'000; ++step) {
      if (random.below(2) == 0) {
        const bool has_room = queue.positions().bound() < TypeParam::capacity;
        ASSERT_TRUE(has_room || oracle.size() > TypeParam::capacity - 4) << "a chunk is lost";
        ASSERT_EQ(queue.push(step), has_room);
        if (has_room) oracle.push_back(step);
      } else {
        std::uint64_t value = 0;
        ASSERT_EQ(queue.pop(value), !oracle.empty());
        if (oracle.empty()) continue;
        ASSERT_EQ(value, oracle.front());
        oracle.pop_front();
      }
      ASSERT_EQ(this->memory.problem(oracle.size()), "") << "step " << step;
    }
  });
}

TYPED_TEST(index_queues, takes_a_run_of_values_at_once) {
  simt::explorer explorer({1, 10});
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    this->memory.format();
    std::vector<std::uint64_t> seen(10, 0);
    const auto outcome = explorer.run({simt::strategy::uniform, seed}, [&] {
      const auto queue = this->memory.queue();
      const simt::group all = simt::warp();
      std::uint32_t accepted = queue.push_run(all, 40, 10);
      if (all.is_leader()) queue.items().signal(accepted);
      all.sync();
      queue.pop(seen[simt::thread_rank()]);
    });
    ASSERT_EQ(outcome.stuck, "") << "seed " << seed;
    std::sort(seen.begin(), seen.end());
    const std::vector<std::uint64_t> expected{0, 0, 40, 41, 42, 43, 44, 45, 46, 47};
    ASSERT_EQ(seen, expected) << "seed " << seed;
    ASSERT_EQ(this->memory.problem(0), "") << "seed " << seed;
  }
}

// Whichever of them counts the values.
TYPED_TEST(index_queues, has_a_value_for_each_member_of_a_group_that_has_put_some) {
  simt::explorer explorer({1, 2});
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    this->memory.format();
    std::vector<std::uint64_t> popped(2, 0);
    const auto outcome = explorer.run({simt::strategy::uniform, seed}, [&] {
      const auto queue = this->memory.queue();
      queue.push(simt::thread_rank() + 1);
      queue.pop(popped[simt::thread_rank()]);
    });
    ASSERT_EQ(outcome.stuck, "") << "seed " << seed;
    std::sort(popped.begin(), popped.end());
    ASSERT_EQ(popped, (std::vector<std::uint64_t>{1, 2})) << "seed " << seed;
    ASSERT_EQ(this->memory.problem(0), "") << "seed " << seed;
  }
}

template <class Memory>
struct circulate {
  Memory* memory;
  std::uint64_t* sums;
  void operator()() const {
    const auto queue = memory->queue();
    std::uint64_t put = 0;
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < 20; ++i) {
      // Ends: a lane that has put an index then takes one.
      const std::uint64_t mine = simt::thread_rank() * 20 + i;
      while (!queue.push(mine)) simt::backoff(1);
      put += mine;
      std::uint64_t value = 0;
      while (!queue.pop(value)) simt::backoff(1);
      taken += value;
    }
    simt::atomic_ref(sums[0]).fetch_add(put, simt::order::relaxed);
    simt::atomic_ref(sums[1]).fetch_add(taken, simt::order::relaxed);
  }
};

TYPED_TEST(index_queues, lose_nothing_when_many_lanes_share_them) {
  std::uint64_t sums[2] = {};
  machine().launch(covering(sanitized ? 128 : 2048), circulate<TypeParam>{&this->memory, sums});
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(this->memory.problem(0), "");
}

template <class Memory>
class numbers_of_chunks : public index_queues<Memory> {};
using virtual_memories = ::testing::Types<array_memory<>, list_memory>;
TYPED_TEST_SUITE(numbers_of_chunks, virtual_memories);

// Entries keep 32 bits of a chunk's number, and links 27: from just before these are used up on.
TYPED_TEST(numbers_of_chunks, wrap_around) {
  for (const int bits : {8, 16, 27, 32}) {
    for (const std::uint64_t before : {1, 2, 3, 5}) {
      this->memory.start_at((std::uint64_t{1} << bits) - before);
      std::uint64_t sums[2] = {};
      machine().launch({2, 4}, circulate<TypeParam>{&this->memory, sums});
      EXPECT_EQ(sums[0], sums[1]) << bits << " bits, " << before;
      EXPECT_EQ(this->memory.problem(0), "") << bits << " bits, " << before;
      this->alone([this] {
        const auto queue = this->memory.queue();
        std::uint64_t value = 0;
        for (std::uint64_t i = 0; i < 60; ++i) {
          ASSERT_TRUE(queue.push(i));
          ASSERT_TRUE(queue.pop(value));
          ASSERT_EQ(value, i);
        }
        EXPECT_FALSE(queue.pop(value));
      });
      EXPECT_EQ(this->memory.problem(0), "") << bits << " bits, " << before;
    }
  }
}

TYPED_TEST(numbers_of_chunks, are_followed_to_values_that_no_lane_has_taken) {
  this->alone([this] {
    const auto queue = this->memory.queue();
    for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(queue.push(7 * i));
    const auto& positions = queue.positions();
    ASSERT_EQ(positions.size(), 3u);
    std::uint64_t value = 1;
    for (std::uint64_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(positions.peek(positions.first() + i, value));
      EXPECT_EQ(value, 7 * i);
    }
    EXPECT_FALSE(positions.peek(positions.first() + 3, value));
  });
}

TYPED_TEST(numbers_of_chunks, begin_in_the_first_chunk_and_no_other_is_written_to) {
  const auto pool = this->memory.pool();
  for (std::uint32_t i = 0; i < pool.slots_each; ++i) {
    EXPECT_EQ(pool.slots(0)[i], 0u);
    EXPECT_EQ(pool.slots(1)[i], 0xdeadu);
  }
}

TEST(list_directory, a_wrong_link_leads_to_no_chunk_behind_the_last_one) {
  constexpr std::uint32_t chunks = 4;
  sync::list_directory::anchor anchor;
  std::vector<std::uint64_t> links(chunks);
  std::uint64_t finger = 0;
  const sync::list_directory directory(&anchor, links.data(), &finger, 0, 0);
  machine().launch({1, 1}, [&] {
    directory.format(0, 1, 0);
    directory.publish(1, 2);
    finger = 0;  // so that the link leads there
    std::uint32_t chunk = 0;
    EXPECT_TRUE(directory.look(1, chunks, chunk));
    EXPECT_EQ(chunk, 2u);
    for (const std::uint32_t wrong : {chunks, chunks + 1}) {
      links[0] = (links[0] & ~0xffffffffull) | (wrong + 1);
      EXPECT_FALSE(directory.look(1, chunks, chunk)) << wrong;
    }
  });
}

// Laps that are only even or odd: a slot keeps one bit of them. With as many lanes as slots, no two
// that wait for one slot are two laps apart.
TEST(static_queue, one_bit_of_the_lap_is_enough) {
  sync::queue_ends ends;
  std::vector<std::uint32_t> slots(4);
  const sync::static_queue<std::uint32_t> queue(&ends, slots.data(), 2, 30);
  queue.format(0, 1);
  std::uint64_t sums[2] = {};
  machine().launch({2, 2}, [&] {
    const std::uint32_t laps = race_checked ? 50 : 20'000;
    std::uint64_t taken = 0;
    for (std::uint32_t i = 0; i < laps; ++i) {
      // Ends: a value is put before one is waited for.
      queue.put(queue.draw_back(1), i);
      const std::uint64_t position = queue.draw_front(1);
      std::uint32_t value = 0;
      while (!queue.poll(position, value)) simt::backoff(1);
      taken += value;
    }
    simt::atomic_ref(sums[0]).fetch_add(std::uint64_t{laps} * (laps - 1) / 2, simt::order::relaxed);
    simt::atomic_ref(sums[1]).fetch_add(taken, simt::order::relaxed);
  });
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(queue.size(), 0u);
}

// Positions increase forever; slots know only some bits of the lap.
TEST(static_queue, laps_wrap_around) {
  sync::queue_ends ends;
  std::vector<std::uint32_t> slots(8);
  const sync::static_queue<std::uint32_t> queue(&ends, slots.data(), 3, 28);
  queue.format(0, 1);
  for (std::uint32_t i = 0; i < 8 * 20; ++i) {
    std::uint32_t value = 0;
    const std::uint64_t taken_at = queue.draw_front(1);
    EXPECT_FALSE(queue.poll(taken_at, value)) << "nothing has come in lap " << i / 8;
    queue.put(queue.draw_back(1), i);
    EXPECT_TRUE(queue.poll(taken_at, value));
    ASSERT_EQ(value, i);
    EXPECT_FALSE(queue.poll(taken_at, value)) << "taken once";
  }
}

// Tickets may be drawn far ahead of the values.
TEST(static_queue, a_ticket_of_a_later_lap_waits_for_its_own_value) {
  sync::queue_ends ends;
  std::vector<std::uint32_t> slots(2);
  const sync::static_queue<std::uint32_t> queue(&ends, slots.data(), 1, 8);
  queue.format(0, 1);
  const std::uint64_t first = queue.draw_front(6);
  std::uint32_t value = 0;
  queue.put(queue.draw_back(1), 7);
  for (const std::uint64_t later : {2, 4}) EXPECT_FALSE(queue.poll(first + later, value));
  EXPECT_TRUE(queue.poll(first, value));
  EXPECT_EQ(value, 7u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
