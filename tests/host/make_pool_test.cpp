// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pool costs before it is used, and how it grows: many pools fit into little memory and few
// addresses.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/c/pool.h"
#include "warpheap/host/upstreams/host_upstream.hpp"
#include "warpheap/pool.hpp"

namespace warpheap::host {
namespace {

// The same few addresses for each pool: none is ever touched.
class imaginary_upstream final : public upstream {
 public:
  void* allocate(std::size_t) override { return reinterpret_cast<void*>(std::uintptr_t{1} << 44); }
  void deallocate(void*, std::size_t) noexcept override {}
  std::string_view name() const override { return "imaginary"; }
};

std::vector<std::unique_ptr<pool_interface>> make_pools(
    const std::string& name, int count,
    const std::shared_ptr<upstream>& source = std::make_shared<imaginary_upstream>()) {
  std::vector<std::unique_ptr<pool_interface>> pools;
  for (int n = 0; n < count; ++n) {
    pools.push_back(make_pool(name, source, std::make_shared<no_events>()));
    void* block = pools.back()->allocate(1000, 256, stream_id::none);
    pools.back()->allocate(1000, 256, stream_id::none);
    pools.back()->deallocate(block, stream_id::none);
  }
  return pools;
}

// Heap and mapped bytes in use. (A sanitizer's allocator does not count them.)
std::size_t bytes_of_process() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

class small_pools : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, small_pools, testing::ValuesIn(all_policy_names()),
                         [](const auto& test) { return test.param; });

TEST_P(small_pools, a_pool_with_a_block_takes_less_than_64_KiB) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "another allocator";
  // A bitmask is as large as the memory that it manages.
  if (GetParam().find("bitmask") != std::string::npos) GTEST_SKIP() << "one bit per granule";
  const std::size_t before = bytes_of_process();
  const auto pools = make_pools(GetParam(), 100);
  EXPECT_LE((bytes_of_process() - before) / 100, 64_KiB);
}

// How long it takes is measured in bench/host_pools; here is what that time would be spent on.
TEST_P(small_pools, making_one_asks_no_upstream_and_touches_few_pages) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "another allocator";
  constexpr int count = 100;
  const auto source = std::make_shared<counted_upstream>();
  std::vector<std::unique_ptr<pool_interface>> pools;
  pools.reserve(count);
  const auto pages_touched = [] {
    rusage now{};
    getrusage(RUSAGE_SELF, &now);
    return now.ru_minflt;
  };
  const long before = pages_touched();
  for (int n = 0; n < count; ++n) {
    pools.push_back(make_pool(GetParam(), source, std::make_shared<no_events>()));
  }
  EXPECT_LE((pages_touched() - before) * sysconf(_SC_PAGESIZE) / count, 16 * 1024);
  EXPECT_EQ(source->calls(), 0u);
}

TEST_P(small_pools, other_granules_work_too) {
  const auto expect_blocks_in = [](const auto& from, std::size_t granule) {
    const auto pool = make_pool(GetParam(), from, std::make_shared<no_events>(),
                                {.limit_bytes = 64_MiB, .granule_bytes = granule});
    std::mt19937_64 random(41);
    held_blocks held;
    for (int step = 0; step < 3000; ++step) {
      if (random() % 2 == 0 || held.empty()) {
        void* block = pool->try_allocate(1 + random() % 5000, 1, stream_id::none);
        if (block == nullptr) continue;
        ASSERT_EQ(reinterpret_cast<address>(block) % granule, 0u);
        ASSERT_TRUE(from->gave(block, pool->usable_bytes(block)));
        ASSERT_NO_FATAL_FAILURE(held.add(block, pool->usable_bytes(block)));
      } else {
        void* block = held.pick(random());
        pool->deallocate(block, stream_id::none);
        held.remove(block);
      }
    }
    EXPECT_EQ(pool->check(), std::nullopt) << granule;
  };
  for (const std::size_t granule : {16u, 4096u, 65536u}) {
    expect_blocks_in(std::make_shared<counted_upstream>(), granule);
    expect_blocks_in(std::make_shared<growing_upstream>(), granule);
  }
}

// Wherever the region begins, and whatever is lost where the granule or the alignment is larger
// than what the upstream promises.
TEST_P(small_pools, a_request_fits_into_the_region_that_is_taken_for_it) {
  for (const std::size_t granule : {16u, 256u, 4096u, 65536u}) {
    for (const std::size_t bytes : {std::size_t{1}, granule, 5 * granule, 5 * granule + 1}) {
      for (const std::size_t alignment : {std::size_t{1}, 2 * granule, 16 * granule}) {
        const auto source = std::make_shared<counted_upstream>();
        const auto pool = make_pool(GetParam(), source, std::make_shared<no_events>(),
                                    {.region_bytes = 1, .granule_bytes = granule});
        void* const block = pool->try_allocate(bytes, alignment, stream_id::none);
        ASSERT_NE(block, nullptr) << bytes << " at " << alignment << ", granule " << granule;
        EXPECT_EQ(reinterpret_cast<address>(block) % std::max(alignment, granule), 0u);
        EXPECT_TRUE(source->gave(block, pool->usable_bytes(block)));
        EXPECT_EQ(source->regions(), 1u);
      }
    }
  }
}

// A region of the usual size is more than the upstream has: smaller ones are tried, down to what
// the request needs.
TEST_P(small_pools, a_request_gets_the_upstreams_last_bytes_whatever_the_size_of_regions) {
  constexpr std::size_t budget = 5_MiB;
  for (const std::size_t bytes : {300_KiB, 1_MiB + 300_KiB, 2_MiB, 3_MiB, 4_MiB, budget}) {
    const auto serves = [&](std::size_t region_bytes) {
      const auto pool = make_pool(GetParam(), std::make_shared<counted_upstream>(budget),
                                  std::make_shared<no_events>(), {.region_bytes = region_bytes});
      return pool->try_allocate(bytes, 1, stream_id::none) != nullptr;
    };
    const bool possible = serves(1);
    EXPECT_EQ(serves(16_MiB), possible) << bytes;
    EXPECT_EQ(serves(24_MiB), possible) << bytes;
  }
}

// With blocks of 1 MiB: the pool first doubles from call to call of its upstream, and later takes a
// quarter of what it holds.
TEST(pools_that_grow, a_small_pool_takes_little_and_a_large_one_a_quarter) {
  const auto source = std::make_shared<counted_upstream>();
  const auto pool = make_pool("tlsf", source, std::make_shared<no_events>());
  std::size_t held = 0;
  for (std::size_t mib = 1; mib <= 1024; ++mib) {
    ASSERT_NE(pool->try_allocate(1_MiB, 1, stream_id::none), nullptr);
    if (source->held() == held) continue;
    const std::size_t taken = source->held() - held;
    const std::size_t wanted = std::min(held, std::max(64_MiB, held / 4 / 2_MiB * 2_MiB));
    EXPECT_EQ(taken, std::max(2_MiB, wanted)) << held;
    held = source->held();
  }
  // 2, 2, 4, 8, 16, 32 and 64 MiB; from 128 MiB on in steps of 64, and from 256 on by quarters.
  EXPECT_EQ(source->calls(), 16u);
}

TEST(pools_that_grow, a_set_size_of_regions_is_taken_at_once) {
  const auto source = std::make_shared<counted_upstream>();
  const auto pool =
      make_pool("tlsf", source, std::make_shared<no_events>(), {.region_bytes = 96_MiB});
  for (std::size_t mib = 1; mib <= 97; ++mib) {
    ASSERT_NE(pool->try_allocate(1_MiB, 1, stream_id::none), nullptr);
    ASSERT_EQ(source->held(), mib <= 96 ? 96_MiB : 192_MiB);
  }
}

// Limits the addresses of this process, calls `run`, and ends with what it returns.
template <class Run>
[[noreturn]] void exit_under_a_limit(rlim_t bytes, Run&& run) {
  const rlimit limit{bytes, bytes};
  std::exit(setrlimit(RLIMIT_AS, &limit) == 0 ? run() : 100);
}

// The books and the regions, which are addresses of this process, too.
TEST_P(small_pools, a_thousand_work_with_8_GB_of_addresses) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs terabytes of addresses";
  const auto run = [] {
    const auto pools = make_pools(GetParam(), 1000, std::make_shared<host_upstream>());
    for (const auto& pool : pools) {
      if (pool->check() || pool->stats().blocks != 1) return 1;
    }
    return 0;
  };
  EXPECT_EXIT(exit_under_a_limit(8'000'000'000, run), testing::ExitedWithCode(0), "");
}

TEST(small_pools_under_a_limit, a_thousand_of_the_c_interface_work_with_8_GB_of_addresses) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs terabytes of addresses";
  for (const std::string upstream : {"host", "reserved", "reserved_pages"}) {
    const auto run = [&] {
      std::vector<warpheap_pool*> pools(1000);
      for (warpheap_pool*& pool : pools) {
        const warpheap_pool_options defaults{};
        if (warpheap_pool_create("tlsf", upstream.c_str(), 0, &defaults, &pool) != WARPHEAP_OK) {
          return 1;
        }
        void* block = nullptr;
        if (warpheap_pool_allocate(pool, 1000, 256, 0, &block) != WARPHEAP_OK) return 2;
        if (upstream == "host") std::memset(block, 1, 1000);
      }
      for (warpheap_pool* pool : pools) {
        if (warpheap_pool_check(pool) != WARPHEAP_OK) return 3;
        warpheap_pool_destroy(pool);
      }
      return 0;
    };
    EXPECT_EXIT(exit_under_a_limit(8'000'000'000, run), testing::ExitedWithCode(0), "") << upstream;
  }
}

TEST(small_pools_under_a_limit, a_pool_without_memory_for_its_books_fails_and_stays_sound) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs terabytes of addresses";
  const auto run = [] {
    const auto pool =
        make_pool("tlsf", std::make_shared<imaginary_upstream>(), std::make_shared<no_events>(),
                  {.initial_bytes = 4096_GiB, .limit_bytes = 4096_GiB});
    std::vector<void*> blocks(1'000'000);
    std::size_t taken = 0;
    while (void* block = pool->try_allocate(256, 256, stream_id::none)) {
      blocks[taken++ % blocks.size()] = block;
    }
    if (taken < 200'000 || pool->stats().failures != 1) return 1;
    const std::size_t known = std::min(taken, blocks.size());
    for (std::size_t n = 0; n < known; ++n) pool->deallocate(blocks[n], stream_id::none);
    return pool->stats().blocks == taken - known ? 0 : 2;
  };
  EXPECT_EXIT(exit_under_a_limit(400'000'000, run), testing::ExitedWithCode(0), "");
}

// Adds regions until the process has no memory for them. The policy must be as it was before the
// one that failed.
template <class Policy>
int add_regions_until_memory_is_exhausted() {
  constexpr std::size_t granule = 256;
  constexpr std::size_t bytes = 61 * granule;  // several roots of every buddy system
  Policy policy(policy_options{granule});
  std::vector<char> spare(4_MiB);
  std::size_t added = 0;
  try {
    // A gap between two regions: they are not neighbours.
    for (;; ++added) policy.add_region({(added + 1) * 2 * bytes, bytes});
  } catch (const out_of_memory&) {
  } catch (const std::bad_alloc&) {
  }
  spare = {};
  std::size_t managed = 0;
  policy.for_each_block([&](extent block, bool) { managed += block.bytes; });
  if (policy.check()) return 1;
  return added > 1000 && managed == added * bytes ? 0 : 2;
}

TEST_P(small_pools, a_region_without_memory_for_its_books_changes_nothing) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs terabytes of addresses";
  for_each_policy([](auto policy) {
    using type = typename decltype(policy)::type;
    if (policy.name != GetParam()) return;
    EXPECT_EXIT(exit_under_a_limit(60'000'000, add_regions_until_memory_is_exhausted<type>),
                testing::ExitedWithCode(0), "");
  });
}

// The default policy, without memory for the books of a region.
class refusing_policy : public tlsf {
 public:
  using tlsf::tlsf;
  void add_region(extent) { throw std::bad_alloc(); }
};

TEST(small_pools_under_a_limit, a_region_that_the_policy_cannot_add_goes_back) {
  const auto source = std::make_shared<counted_upstream>();
  stream_pool<refusing_policy> pool(source, std::make_shared<no_events>());
  EXPECT_THROW(pool.try_allocate(1000, 1, stream_id::none), std::bad_alloc);
  EXPECT_EQ(source->regions(), 0u);
  EXPECT_EQ(pool.stats().regions, 0u);
  EXPECT_EQ(pool.stats().reserved_bytes, 0u);
}

// The default policy, without memory for the books of what a region grows by.
class shortsighted_policy : public tlsf {
 public:
  using tlsf::tlsf;
  void extend_region(address, std::size_t) { throw std::bad_alloc(); }
};

TEST(small_pools_under_a_limit, memory_that_the_policy_cannot_take_is_held_and_goes_back) {
  const auto expect_sound = [](const auto& source) {
    {
      stream_pool<shortsighted_policy> pool(source, std::make_shared<no_events>(),
                                            {.region_bytes = 1_MiB});
      const auto take = [&] { return pool.try_allocate(1_MiB, 1, stream_id::none); };
      ASSERT_NE(take(), nullptr);
      EXPECT_THROW(take(), std::bad_alloc);
      EXPECT_EQ(source->held(), 2_MiB);
      EXPECT_EQ(pool.stats().reserved_bytes, 2_MiB);
      // What comes next would not follow the memory that the policy has.
      EXPECT_NE(take(), nullptr);
      EXPECT_EQ(source->regions(), 2u);
      EXPECT_EQ(pool.stats().reserved_bytes, source->held());
      EXPECT_EQ(pool.check(), std::nullopt);
    }
    EXPECT_EQ(source->held(), 0u);
    EXPECT_EQ(source->regions(), 0u);
  };
  expect_sound(std::make_shared<growing_upstream>());
  expect_sound(std::make_shared<paged_upstream>());
}

}  // namespace
}  // namespace warpheap::host
