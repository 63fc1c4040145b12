// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every pool promises, for each policy of the list: one stream, no GPU, and memory that nobody
// can touch.
#include <gtest/gtest.h>

#include <random>

#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"

namespace warpheap::host {
namespace {

class pools : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<pool_interface> make(pool_options options, std::size_t budget = 1_GiB) {
    source = std::make_shared<counted_upstream>(budget);
    return make_pool(GetParam(), source, std::make_shared<no_events>(), options);
  }

  // Takes blocks of this size until there are none.
  static std::vector<void*> fill(pool_interface& pool, std::size_t bytes) {
    std::vector<void*> blocks;
    while (void* block = pool.try_allocate(bytes, 1, stream_id::none)) blocks.push_back(block);
    return blocks;
  }

  std::shared_ptr<counted_upstream> source;
};

INSTANTIATE_TEST_SUITE_P(all, pools, testing::ValuesIn(all_policy_names()),
                         [](const auto& test) { return test.param; });

TEST_P(pools, random_requests_agree_with_a_model) {
  const auto pool = make({.limit_bytes = 8_MiB, .region_bytes = 1_MiB});
  std::mt19937_64 random(17);
  held_blocks held;
  std::uint64_t failures = 0;
  std::size_t peak = 0;
  for (int step = 0; step < steps(30000); ++step) {
    if (random() % 100 < 52 || held.empty()) {
      const std::size_t bytes = 1 + random() % (std::size_t{1} << (random() % 18));
      const std::size_t alignment = std::size_t{1} << (random() % 4 == 0 ? random() % 17 : 0);
      void* block = pool->try_allocate(bytes, alignment, stream_id::none);
      if (block == nullptr) {
        ++failures;
        ASSERT_EQ(pool->stats().last_failed_bytes, bytes);
        continue;
      }
      const std::size_t usable = pool->usable_bytes(block);
      ASSERT_GE(usable, bytes);
      ASSERT_EQ(reinterpret_cast<address>(block) % std::max<std::size_t>(alignment, 256), 0u);
      ASSERT_TRUE(source->gave(block, usable)) << "memory that the upstream did not give";
      ASSERT_NO_FATAL_FAILURE(held.add(block, usable));
      peak = std::max(peak, held.size());
    } else {
      void* block = held.pick(random());
      pool->deallocate(block, stream_id::none);
      held.remove(block);
      ASSERT_THROW(pool->deallocate(block, stream_id::none), invalid_argument) << "freed twice";
      ASSERT_EQ(pool->usable_bytes(block), 0u);
    }
    if (step % 1000 == 0) {
      ASSERT_EQ(pool->check(), std::nullopt) << "step " << step;
    }
  }
  const pool_stats stats = pool->stats();
  EXPECT_EQ(stats.blocks, held.size());
  EXPECT_EQ(stats.peak_blocks, peak);
  EXPECT_EQ(stats.allocations - stats.deallocations, held.size());
  EXPECT_EQ(stats.failures, failures);
  EXPECT_EQ(stats.reserved_bytes, source->held());
  EXPECT_EQ(stats.regions, source->regions());
  EXPECT_LE(stats.reserved_bytes, 8_MiB);
  while (!held.empty()) {
    void* block = held.pick(random());
    pool->deallocate(block, stream_id::none);
    held.remove(block);
  }
  EXPECT_EQ(pool->stats().bytes_in_use, 0u);
  EXPECT_EQ(pool->check(), std::nullopt);
  EXPECT_EQ(pool->trim(0), stats.reserved_bytes);
  EXPECT_EQ(source->held(), 0u);
}

TEST_P(pools, bytes_in_use_are_exact) {
  const auto pool = make({.limit_bytes = 64_MiB});
  std::mt19937_64 random(23);
  held_blocks held;
  std::size_t most = 0;
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0 || held.empty()) {
      void* block = pool->try_allocate(1 + random() % 20000, 1, stream_id::none);
      ASSERT_NE(block, nullptr);
      // Where no alignment is asked for, a block's usable bytes are all that it costs.
      held.add(block, pool->usable_bytes(block));
      most = std::max(most, held.bytes());
    } else {
      void* block = held.pick(random());
      pool->deallocate(block, stream_id::none);
      held.remove(block);
    }
    ASSERT_EQ(pool->stats().bytes_in_use, held.bytes()) << "step " << step;
    ASSERT_EQ(pool->stats().peak_bytes, most) << "step " << step;
  }
}

TEST_P(pools, everything_merges_after_all_frees) {
  const auto pool = make({.initial_bytes = 1_MiB, .limit_bytes = 1_MiB});
  void* first_fill = pool->try_allocate(1_MiB, 1, stream_id::none);
  // The largest request that an untouched pool of this policy serves.
  std::size_t largest = 1_MiB;
  while (first_fill == nullptr) {
    largest -= 256;
    first_fill = pool->try_allocate(largest, 1, stream_id::none);
  }
  pool->deallocate(first_fill, stream_id::none);
  std::mt19937_64 random(31);
  for (int round = 0; round < 5; ++round) {
    std::vector<void*> blocks;
    for (int tries = 0; tries < 4000; ++tries) {
      void* block = pool->try_allocate(1 + random() % 3000, 1, stream_id::none);
      if (block != nullptr) blocks.push_back(block);
    }
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (void* block : blocks) pool->deallocate(block, stream_id::none);
    void* whole = pool->try_allocate(largest, 1, stream_id::none);
    ASSERT_NE(whole, nullptr) << "round " << round;
    pool->deallocate(whole, stream_id::none);
  }
}

TEST_P(pools, a_pool_that_was_full_holds_as_much_again) {
  const auto pool = make({.initial_bytes = 1_MiB, .limit_bytes = 1_MiB});
  for (const std::size_t bytes : {256u, 700u, 5000u, 40000u}) {
    const auto first = fill(*pool, bytes);
    ASSERT_FALSE(first.empty());
    for (void* block : first) pool->deallocate(block, stream_id::none);
    const auto second = fill(*pool, bytes);
    EXPECT_EQ(first.size(), second.size());
    for (void* block : second) pool->deallocate(block, stream_id::none);
    EXPECT_EQ(pool->check(), std::nullopt);
  }
}

TEST_P(pools, foreign_addresses_are_refused_and_change_nothing) {
  const auto pool = make({});
  void* block = pool->try_allocate(5000, 1, stream_id::none);
  int on_the_stack = 0;
  for (void* foreign : {static_cast<void*>(&on_the_stack), at(block, 16), at(block, 256),
                        at(block, 1_GiB), at(block, 4096)}) {
    EXPECT_THROW(pool->deallocate(foreign, stream_id::none), invalid_argument);
    EXPECT_EQ(pool->usable_bytes(foreign), 0u);
  }
  try {
    pool->deallocate(at(block, 256), stream_id::none);
    ADD_FAILURE() << "an inner address was accepted";
  } catch (const invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find(to_text(reinterpret_cast<address>(block) + 256)),
              std::string::npos)
        << refused.what();
  }
  EXPECT_EQ(pool->stats().blocks, 1u);
  EXPECT_EQ(pool->check(), std::nullopt);
  pool->deallocate(block, stream_id::none);
}

TEST_P(pools, a_large_alignment_is_given_and_taken_back_in_any_stream) {
  const auto pool = make({.limit_bytes = 64_MiB});
  const stream_id streams[] = {stream_id{0x100}, stream_id{0x200}};
  std::mt19937_64 random(71);
  std::map<void*, std::size_t> held;
  for (int step = 0; step < 4000; ++step) {
    if (random() % 2 == 0 || held.empty()) {
      const std::size_t alignment = std::size_t{256} << random() % 9;
      void* block = pool->try_allocate(1 + random() % 9000, alignment, streams[random() % 2]);
      ASSERT_NE(block, nullptr);
      ASSERT_EQ(reinterpret_cast<address>(block) % alignment, 0u);
      held[block] = alignment;
    } else {
      const auto [block, alignment] = *std::next(held.begin(), random() % held.size());
      // The memory before an aligned block is not a live block, even where the policy has one.
      for (std::size_t before = 256; before < alignment; before *= 2) {
        if (!held.contains(at(block, -before))) {
          ASSERT_THROW(pool->deallocate(at(block, -before), streams[0]), invalid_argument);
        }
      }
      pool->deallocate(block, streams[random() % 2]);
      held.erase(block);
      ASSERT_THROW(pool->deallocate(block, streams[0]), invalid_argument);
    }
    if (step % 100 == 0) {
      ASSERT_EQ(pool->check(), std::nullopt) << "step " << step;
    }
  }
  for (const auto& [block, alignment] : held) pool->deallocate(block, stream_id::none);
  EXPECT_EQ(pool->stats().bytes_in_use, 0u);
  pool->trim(0);
  EXPECT_EQ(pool->check(), std::nullopt);
  EXPECT_EQ(source->held(), 0u);
}

TEST_P(pools, nothing_is_null_and_null_is_nothing) {
  const auto pool = make({});
  EXPECT_EQ(pool->try_allocate(0, 1, stream_id::none), nullptr);
  pool->deallocate(nullptr, stream_id::none);
  EXPECT_EQ(pool->stats().failures, 0u);
  EXPECT_EQ(pool->stats().allocations, 0u);
}

TEST_P(pools, impossible_requests_fail_and_are_counted) {
  const auto pool = make({.limit_bytes = 4_MiB});
  for (const std::size_t bytes :
       {std::size_t{5_MiB}, std::size_t{1} << 47, ~std::size_t{0}, ~std::size_t{0} - 255}) {
    EXPECT_EQ(pool->try_allocate(bytes, 1, stream_id::none), nullptr) << bytes;
    EXPECT_EQ(pool->stats().last_failed_bytes, bytes);
  }
  EXPECT_EQ(pool->try_allocate(1, std::size_t{1} << 60, stream_id::none), nullptr);
  EXPECT_EQ(pool->stats().failures, 5u);
  EXPECT_THROW(pool->try_allocate(1, 3, stream_id::none), invalid_argument);
  EXPECT_THROW(pool->try_allocate(1, 0, stream_id::none), invalid_argument);
  EXPECT_THROW(pool->allocate(5_MiB, 1, stream_id::none), out_of_memory);
}

// Whatever holes the pool has: those of many sizes, large ones among them, low and high.
TEST_P(pools, a_block_at_a_multiple_of_more_than_all_addresses_is_impossible) {
  const auto pool = make({.limit_bytes = 64_MiB});
  std::mt19937_64 random(13);
  std::vector<void*> blocks;
  for (int n = 0; n < 2000; ++n) {
    const std::size_t granules = n % 10 == 0 ? 128 + random() % 128 : 1 + random() % 39;
    blocks.push_back(pool->allocate(granules * 256, 1, stream_id::none));
  }
  std::shuffle(blocks.begin(), blocks.end(), random);
  for (std::size_t n = 0; n < 1000; ++n) pool->deallocate(blocks[n], stream_id::none);
  for (int power = 46; power < 64; ++power) {
    const std::size_t alignment = std::size_t{1} << power;
    EXPECT_EQ(pool->try_allocate(1, alignment, stream_id::none), nullptr) << power;
    EXPECT_EQ(pool->allocate_quickly(1, alignment, stream_id::none), nullptr) << power;
  }
  EXPECT_EQ(pool->stats().failures, 18u);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(pools, grow_to_the_limit_and_give_free_regions_back) {
  const auto pool = make({.limit_bytes = 16_MiB, .region_bytes = 1_MiB});
  EXPECT_EQ(source->held(), 0u) << "nothing is taken before the first request";
  const auto blocks = fill(*pool, 100000);
  EXPECT_LE(source->held(), 16_MiB);
  EXPECT_GE(blocks.size() * 100000, 4_MiB);
  EXPECT_GT(source->regions(), 1u);
  const std::size_t most = source->held();
  EXPECT_EQ(pool->stats().peak_reserved_bytes, most);
  EXPECT_EQ(pool->trim(0), 0u) << "every region has a block in use";
  for (void* block : blocks) pool->deallocate(block, stream_id::none);
  const std::size_t held = source->held();
  EXPECT_EQ(pool->trim(held), 0u) << "no more is held than may be kept";
  std::size_t released = 0;
  for (std::size_t keep = held; keep >= 1_MiB; keep -= 300_KiB) {
    released += pool->trim(keep);
    ASSERT_EQ(released, held - source->held());
    ASSERT_GE(source->held(), keep);
  }
  EXPECT_GT(released, 0u);
  pool->trim(0);
  EXPECT_EQ(source->held(), 0u);
  void* again = pool->try_allocate(100000, 1, stream_id::none);
  EXPECT_NE(again, nullptr);
  EXPECT_LT(source->held(), most);
  EXPECT_EQ(pool->stats().reserved_bytes, source->held());
  EXPECT_EQ(pool->stats().peak_reserved_bytes, most);
  pool->deallocate(again, stream_id::none);
}

TEST(pools_that_grow, the_upstreams_last_bytes_extend_a_region_by_less_than_its_step) {
  const auto growing = std::make_shared<growing_upstream>(10_MiB);
  const auto pool =
      make_pool("tlsf", growing, std::make_shared<no_events>(), {.region_bytes = 8_MiB});
  ASSERT_NE(pool->try_allocate(7_MiB, 1, stream_id::none), nullptr);
  ASSERT_EQ(growing->held(), 8_MiB);
  EXPECT_NE(pool->try_allocate(3_MiB, 1, stream_id::none), nullptr);
  EXPECT_EQ(growing->held(), 10_MiB);
  EXPECT_EQ(growing->regions(), 1u);
  EXPECT_EQ(pool->check(), std::nullopt);
}

TEST_P(pools, a_region_that_can_grow_grows_where_it_is) {
  const auto growing = std::make_shared<growing_upstream>();
  const auto pool = make_pool(GetParam(), growing, std::make_shared<no_events>(),
                              {.limit_bytes = 48_MiB, .region_bytes = 1_MiB});
  std::mt19937_64 random(61);
  held_blocks held;
  for (int step = 0; step < 2000; ++step) {
    if (random() % 5 < 3 || held.empty()) {
      void* block = pool->try_allocate(1 + random() % 200000, 1, stream_id::none);
      if (block == nullptr) continue;
      ASSERT_TRUE(growing->gave(block, pool->usable_bytes(block)));
      ASSERT_NO_FATAL_FAILURE(held.add(block, pool->usable_bytes(block)));
    } else {
      void* block = held.pick(random());
      pool->deallocate(block, stream_id::none);
      held.remove(block);
    }
    if (step % 100 == 0) {
      ASSERT_EQ(pool->check(), std::nullopt) << "step " << step;
    }
  }
  EXPECT_EQ(pool->stats().reserved_bytes, growing->held());
  EXPECT_LE(growing->held(), 48_MiB);
  const bool whole_orders =
      GetParam().find("buddy") != std::string::npos || GetParam() == "simple_segregated";
  if (!whole_orders) {
    EXPECT_EQ(growing->regions(), 1u);
  }
  while (!held.empty()) {
    void* block = held.pick(random());
    pool->deallocate(block, stream_id::none);
    held.remove(block);
  }
  EXPECT_EQ(pool->check(), std::nullopt);
  pool->trim(0);
  EXPECT_EQ(growing->held(), 0u);
}

TEST_P(pools, trade_free_regions_in_for_a_larger_one) {
  // The upstream has 8 MiB; after small blocks took and left some of it, one of 3 MiB must fit.
  const auto pool = make({.region_bytes = 1_MiB}, 8_MiB);
  const auto blocks = fill(*pool, 200000);
  for (void* block : blocks) pool->deallocate(block, stream_id::none);
  void* large = pool->try_allocate(3_MiB, 1, stream_id::none);
  EXPECT_NE(large, nullptr);
  pool->deallocate(large, stream_id::none);
}

TEST_P(pools, everything_goes_back_to_the_upstream_at_the_end) {
  {
    const auto pool = make({.initial_bytes = 2_MiB});
    EXPECT_EQ(source->held(), 2_MiB);
    EXPECT_NE(pool->try_allocate(3_MiB, 1, stream_id::none), nullptr);
  }
  EXPECT_EQ(source->held(), 0u);
  EXPECT_EQ(source->regions(), 0u);
}

TEST_P(pools, a_tail_can_be_taken_back_or_is_refused) {
  const auto pool = make({.initial_bytes = 1_MiB, .limit_bytes = 1_MiB});
  void* block = pool->try_allocate(10000, 1, stream_id::none);
  const std::size_t before = pool->usable_bytes(block);
  std::size_t taken = 0;
  try {
    taken = pool->truncate(block, 3000);
  } catch (const invalid_argument&) {
    EXPECT_EQ(pool->usable_bytes(block), before);
    EXPECT_EQ(pool->check(), std::nullopt);
    return;
  }
  EXPECT_EQ(taken, before - 3072);
  EXPECT_EQ(pool->usable_bytes(block), 3072u);
  EXPECT_EQ(pool->stats().bytes_in_use, 3072u);
  EXPECT_EQ(pool->truncate(block, 3000), 0u);
  EXPECT_EQ(pool->check(), std::nullopt);
  EXPECT_THROW(pool->truncate(block, 0), invalid_argument);
  EXPECT_THROW(pool->truncate(at(block, 3072), 256), invalid_argument);
  pool->deallocate(block, stream_id::none);
  EXPECT_THROW(pool->truncate(block, 256), invalid_argument);
  EXPECT_NE(pool->try_allocate(1_MiB, 1, stream_id::none), nullptr);
}

TEST(pool_options, out_of_range_is_named) {
  const auto make = [](pool_options options) {
    return make_pool("tlsf", std::make_shared<counted_upstream>(1_MiB),
                     std::make_shared<no_events>(), options);
  };
  EXPECT_THROW(make({.granule_bytes = 100}), invalid_argument);
  EXPECT_THROW(make({.granule_bytes = 8}), invalid_argument);
  EXPECT_THROW(make({.initial_bytes = 2, .limit_bytes = 1}), invalid_argument);
  EXPECT_THROW(make({.initial_bytes = 2_MiB}), out_of_memory);
  try {
    make_pool("buddy", nullptr, nullptr);
    ADD_FAILURE() << "an unknown name was accepted";
  } catch (const invalid_argument& unknown) {
    const std::string text = unknown.what();
    EXPECT_NE(text.find("'buddy'"), std::string::npos) << text;
    EXPECT_NE(text.find("binary_buddy"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace warpheap::host
