// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several threads at once; built with ThreadSanitizer this also shows that no access races.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>

#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/pools/divided_pool.hpp"

namespace warpheap::host {
namespace {

constexpr std::size_t rounds = steps(4000);

// Four threads, each with a stream of its own, take blocks of up to `most_bytes` bytes, free them,
// and free those of each other, quickly if that is possible. Returns how many blocks they got.
std::size_t expect_no_block_lost_or_doubled(pool_interface& pool, std::size_t most_bytes) {
  // Blocks that one thread leaves for the others to free.
  std::mutex exchange_lock;
  std::vector<void*> exchange;
  // What the threads hold, written down after a block was got and erased before it is freed.
  std::mutex claims_lock;
  std::map<address, std::size_t> claims;
  std::atomic<int> doubled = 0;
  std::atomic<std::size_t> served = 0;

  const auto claim = [&](void* block, std::size_t bytes) {
    const std::lock_guard guard(claims_lock);
    const auto base = reinterpret_cast<address>(block);
    const auto above = claims.lower_bound(base);
    if (above != claims.end() && above->first < base + bytes) ++doubled;
    if (above != claims.begin()) {
      const auto below = std::prev(above);
      if (below->first + below->second > base) ++doubled;
    }
    claims[base] = bytes;
  };
  const auto give_back = [&](void* block, stream_id stream) {
    {
      const std::lock_guard guard(claims_lock);
      claims.erase(reinterpret_cast<address>(block));
    }
    if (!pool.deallocate_quickly(block, stream)) pool.deallocate(block, stream);
  };

  std::vector<std::thread> running;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    running.emplace_back([&, thread] {
      std::mt19937_64 random(thread);
      const stream_id stream{0x1000 * (thread + 1)};
      std::vector<void*> mine;
      for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t bytes = 1 + random() % most_bytes;
        void* block = random() % 2 == 0 ? pool.allocate_quickly(bytes, 256, stream) : nullptr;
        if (block == nullptr) block = pool.try_allocate(bytes, 256, stream);
        if (block != nullptr) {
          ++served;
          claim(block, bytes);
          mine.push_back(block);
        }
        if (mine.size() > 20) {
          const std::size_t which = random() % mine.size();
          std::swap(mine[which], mine.back());
          if (random() % 4 == 0) {
            const std::lock_guard guard(exchange_lock);
            exchange.push_back(mine.back());
          } else {
            give_back(mine.back(), stream);
          }
          mine.pop_back();
        }
        void* foreign = nullptr;
        {
          const std::lock_guard guard(exchange_lock);
          if (exchange.size() > 10) {
            foreign = exchange.back();
            exchange.pop_back();
          }
        }
        if (foreign != nullptr) give_back(foreign, stream);
      }
      for (void* block : mine) give_back(block, stream);
    });
  }
  for (std::thread& thread : running) thread.join();
  for (void* block : exchange) give_back(block, stream_id::none);

  EXPECT_EQ(doubled, 0);
  EXPECT_EQ(pool.check(), std::nullopt);
  const pool_stats stats = pool.stats();
  EXPECT_EQ(stats.blocks, 0u);
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.allocations, served);
  EXPECT_EQ(stats.deallocations, served);
  return served;
}

class threads : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, threads, testing::ValuesIn(all_policy_names()),
                         [](const auto& test) { return test.param; });

TEST_P(threads, four_threads_on_four_streams_lose_and_double_no_block) {
  const auto pool = make_pool(GetParam(), std::make_shared<counted_upstream>(1_GiB),
                              std::make_shared<no_events>(), {.region_bytes = 8_MiB});
  EXPECT_EQ(expect_no_block_lost_or_doubled(*pool, 50000), 4 * rounds);
}

// One thread wants 20 pages in the end, so it meets the limit even if the others have not begun.
TEST(threads_in_parts, no_block_is_lost_or_doubled_under_a_limit_for_all) {
  constexpr std::size_t page = paged_upstream::page;
  divided_pool<tlsf> pool(std::make_shared<paged_upstream>(),
                          [] { return std::make_shared<no_events>(); }, 3,
                          {.limit_bytes = 12 * page, .region_bytes = page});
  EXPECT_LT(expect_no_block_lost_or_doubled(pool, 2 * page), 4 * rounds) << "never at the limit";
}

class threads_and_pages : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(vacatable, threads_and_pages,
                         testing::Values("tlsf", "segregated_fit", "slabs_over_tlsf"),
                         [](const auto& test) { return test.param; });

TEST_P(threads_and_pages, no_block_is_lost_or_doubled_while_pages_move) {
  constexpr std::size_t page = paged_upstream::page;
  const auto pool =
      make_pool(GetParam(), std::make_shared<paged_upstream>(), std::make_shared<no_events>(),
                {.region_bytes = page, .spare_percent = 1});
  EXPECT_EQ(expect_no_block_lost_or_doubled(*pool, 8 * page), 4 * rounds);
  EXPECT_GT(pool->stats().moved_bytes, 0u);
}

}  // namespace
}  // namespace warpheap::host
