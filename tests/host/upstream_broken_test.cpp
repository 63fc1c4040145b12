// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An upstream may fail for another reason than a lack of memory, as a driver does after a kernel
// that failed. Callers learn the reason, and the pool remains as it was.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <random>
#include <stdexcept>

#include "../../src/host/c/pool.hpp"
#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/adaptors/failure_callback_resource.hpp"
#include "warpheap/host/adaptors/limiting_resource.hpp"
#include "warpheap/host/adaptors/logging_resource.hpp"
#include "warpheap/host/adaptors/statistics_resource.hpp"
#include "warpheap/host/policies/tlsf.hpp"
#include "warpheap/host/pools/unlocked_pool.hpp"

namespace warpheap::host {
namespace {

constexpr stream_id stream{0x100};
constexpr char reason[] = "an illegal memory access was encountered";

class broken : public std::runtime_error {
 public:
  broken() : runtime_error(reason) {}
};

/// Another upstream, whose calls that take memory throw when `breaks` says so.
template <class Source>
class breaking final : public upstream {
 public:
  explicit breaking(std::size_t budget) : source(budget) {}

  void* allocate(std::size_t bytes) override {
    maybe_break();
    return source.allocate(bytes);
  }
  void deallocate(void* memory, std::size_t bytes) noexcept override {
    source.deallocate(memory, bytes);
  }
  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    maybe_break();
    return source.extend(memory, bytes, more);
  }
  std::size_t available_bytes() const override {
    maybe_break();
    return source.available_bytes();
  }
  std::size_t page_bytes() const override { return source.page_bytes(); }
  void decommit(void* place, std::size_t bytes) noexcept override { source.decommit(place, bytes); }
  void set_aside(void* place, std::size_t bytes) noexcept override {
    source.set_aside(place, bytes);
  }
  bool commit(void* place, std::size_t bytes) override {
    maybe_break();
    return source.commit(place, bytes);
  }
  std::string_view name() const override { return "breaking"; }

  Source source;
  std::function<bool()> breaks = [] { return false; };

 private:
  void maybe_break() const {
    if (breaks()) throw broken();
  }
};

bool always() { return true; }

class broken_upstream : public testing::TestWithParam<std::string> {
 protected:
  /// Random requests and frees in two streams over an upstream that breaks now and then, and over
  /// one that has healed.
  template <class Source>
  void expect_unharmed(std::size_t parts) {
    const auto source = std::make_shared<breaking<Source>>(32_MiB);
    const auto pool =
        make_divided_pool(GetParam(), source, [] { return std::make_shared<no_events>(); }, parts,
                          {.region_bytes = 64_KiB});
    std::minstd_rand random(7);
    source->breaks = [&] { return random() % 3 == 0; };
    held_blocks held;
    std::size_t errors = 0;
    const auto expect_sound = [&] {
      EXPECT_EQ(pool->check(), std::nullopt);
      const pool_stats stats = pool->stats();
      EXPECT_EQ(stats.reserved_bytes, source->source.held());
      EXPECT_EQ(stats.blocks, held.size());
      EXPECT_EQ(stats.bytes_in_use, held.bytes());
    };
    for (int step = 0; step < steps(4000) && !HasFailure(); ++step) {
      const stream_id by = random() % 64 < 60 ? stream : stream_id{0x200};
      // The blocks come to more than the upstream has, and then to few.
      const std::size_t few = step / 500 % 2 == 0 ? 200 : 10;
      if (held.size() < few || random() % 2 == 0) {
        try {
          const std::size_t bytes = random() % (random() % 8 == 0 ? 4_MiB : 200_KiB) + 1;
          void* const block = pool->try_allocate(bytes, 1, by);
          if (block != nullptr) held.add(block, pool->usable_bytes(block));
        } catch (const broken&) {
          ++errors;
          expect_sound();
        }
      }
      if (held.size() > few) {
        void* const block = held.pick(random());
        held.remove(block);
        pool->deallocate(block, by);
      }
      if (step % 512 == 0) pool->trim(0);
    }
    EXPECT_GT(errors, 10u);
    expect_sound();
    source->breaks = [] { return false; };
    while (!held.empty()) {
      void* const block = held.pick(0);
      held.remove(block);
      pool->deallocate(block, stream_id::none);
    }
    pool->trim(0);
    expect_sound();
    EXPECT_EQ(source->source.held(), 0u) << "lost";
    EXPECT_NE(pool->try_allocate(1_MiB, 1, stream), nullptr);
  }
};

/// The policies whose pages can move.
class broken_paged_upstream : public broken_upstream {};

TEST_P(broken_paged_upstream, keeps_the_pages_that_it_had_before_it_broke) {
  constexpr std::size_t page = paged_upstream::page;
  const auto source = std::make_shared<breaking<paged_upstream>>(32_MiB);
  const auto pool = make_pool(GetParam(), source, std::make_shared<no_events>(),
                              {.region_bytes = page, .granule_bytes = page / 4});
  const auto take = [&](std::size_t quarters) {
    return pool->try_allocate(quarters * page / 4, 1, stream_id::none);
  };
  const auto give = [&](void* block) { pool->deallocate(block, stream_id::none); };
  // Two holes of five quarters, each with one page, and between them a block of a half.
  void* const first = take(5);
  void* const between = take(2);
  void* const second = take(5);
  void* const last = take(4);
  ASSERT_EQ(at(first, 3 * page), last);
  give(first);
  give(second);
  ASSERT_EQ(pool->trim(0), 2 * page);
  give(between);
  // So nine quarters need memory in two places, and get it in one.
  int calls = 0;
  source->breaks = [&] { return ++calls == 2; };
  EXPECT_THROW(take(9), broken);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(pool->check(), std::nullopt);
  EXPECT_EQ(pool->stats().reserved_bytes, source->source.held());
  EXPECT_EQ(take(9), first);
  EXPECT_EQ(pool->stats().reserved_bytes, source->source.held());
}

std::string test_name(const testing::TestParamInfo<std::string>& test) { return test.param; }

INSTANTIATE_TEST_SUITE_P(all, broken_upstream, testing::ValuesIn(all_policy_names()), test_name);
INSTANTIATE_TEST_SUITE_P(vacatable, broken_paged_upstream,
                         testing::Values("tlsf", "segregated_fit", "slabs_over_tlsf"), test_name);

TEST_P(broken_paged_upstream, leaves_a_pool_unharmed) { expect_unharmed<paged_upstream>(1); }

TEST_P(broken_paged_upstream, leaves_a_divided_pool_unharmed) {
  expect_unharmed<paged_upstream>(3);
}

TEST_P(broken_upstream, leaves_a_pool_of_regions_unharmed) { expect_unharmed<counted_upstream>(1); }

TEST_P(broken_upstream, leaves_a_pool_of_growing_regions_unharmed) {
  expect_unharmed<growing_upstream>(1);
}

TEST_P(broken_upstream, leaves_a_divided_pool_unharmed) { expect_unharmed<counted_upstream>(3); }

TEST_P(broken_upstream, is_not_out_of_memory_when_a_pool_is_made) {
  const auto source = std::make_shared<breaking<counted_upstream>>(32_MiB);
  source->breaks = always;
  EXPECT_THROW(
      make_pool(GetParam(), source, std::make_shared<no_events>(), {.initial_bytes = 1_MiB}),
      broken);
  EXPECT_EQ(source->source.held(), 0u);
}

/// Has no memory for its books.
class without_books : public tlsf {
 public:
  using tlsf::tlsf;
  void add_region(extent /*region*/) { throw std::bad_alloc(); }
};

TEST(held_regions, memory_that_the_policy_cannot_take_goes_back) {
  const auto source = std::make_shared<counted_upstream>();
  unlocked_pool<without_books> pool(source, {.region_bytes = 64_KiB});
  EXPECT_THROW(pool.allocate_or_grow(64, 1), std::bad_alloc);
  EXPECT_EQ(source->held(), 0u);
}

pool_resource broken_resource() {
  const auto source = std::make_shared<breaking<counted_upstream>>(32_MiB);
  source->breaks = always;
  return pool_resource(make_pool("tlsf", source, std::make_shared<no_events>()));
}

TEST(broken_upstream_adaptors, pass_the_error_on_and_count_no_block) {
  EXPECT_THROW(static_cast<void>(broken_resource().allocate(stream, 100)), broken);

  statistics_resource counted(broken_resource());
  EXPECT_THROW(static_cast<void>(counted.allocate(stream, 100)), broken);
  EXPECT_EQ(counted.stats().blocks, 0u);
  EXPECT_EQ(counted.stats().failures, 1u);

  limiting_resource limited(broken_resource(), 1000);
  EXPECT_THROW(static_cast<void>(limited.allocate(stream, 900)), broken);
  EXPECT_EQ(limited.bytes_in_use(), 0u);

  const std::string path = testing::TempDir() + "broken_upstream.csv";
  {
    logging_resource logged(broken_resource(), path);
    EXPECT_THROW(static_cast<void>(logged.allocate(stream, 100)), broken);
  }
  std::ifstream file(path);
  const std::string log{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(log.find("allocate failure"), std::string::npos) << log;
  std::remove(path.c_str());
}

TEST(broken_upstream_adaptors, ask_for_no_memory_where_memory_would_not_help) {
  int asked = 0;
  failure_callback_resource helped(broken_resource(), [&](std::size_t) { return ++asked < 3; });
  EXPECT_THROW(static_cast<void>(helped.allocate(stream, 100)), broken);
  EXPECT_EQ(asked, 0);
}

TEST(broken_upstream_c_api, says_why) {
  const auto source = std::make_shared<breaking<counted_upstream>>(32_MiB);
  source->breaks = always;
  warpheap_pool pool{make_pool("tlsf", source, std::make_shared<no_events>())};
  void* memory = nullptr;
  EXPECT_EQ(warpheap_pool_allocate(&pool, 100, 1, 0, &memory), WARPHEAP_ERROR);
  EXPECT_STREQ(warpheap_last_error(), reason);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(warpheap_pool_allocate_quickly(&pool, 100, 1, 0), nullptr);
}

}  // namespace
}  // namespace warpheap::host
