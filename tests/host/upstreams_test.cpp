// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Upstreams by themselves, up to the last byte of what they may give.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "mapped_bytes.hpp"
#include "pool_fixture.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/upstreams/address_share.hpp"
#include "warpheap/host/upstreams/reserved_upstream.hpp"
#include "warpheap/host/upstreams/shared_upstream.hpp"

namespace warpheap::host {
namespace {

constexpr std::size_t page = paged_upstream::page;

TEST(shared_upstream, gives_as_much_as_the_limit_and_no_more) {
  shared_upstream shared(std::make_shared<counted_upstream>(), 10 * page);
  void* const most = shared.allocate(9 * page);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(shared.available_bytes(), page);
  EXPECT_EQ(shared.allocate(page + 1), nullptr);
  void* const last = shared.allocate(page);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(shared.available_bytes(), 0u);
  EXPECT_EQ(shared.allocate(1), nullptr);
  shared.deallocate(most, 9 * page);
  EXPECT_EQ(shared.available_bytes(), 9 * page);
  shared.deallocate(last, page);
  EXPECT_EQ(shared.available_bytes(), 10 * page);
}

TEST(shared_upstream, a_region_grows_up_to_the_limit) {
  shared_upstream shared(std::make_shared<growing_upstream>(), 10 * page);
  void* const memory = shared.allocate(4 * page);
  EXPECT_FALSE(shared.extend(memory, 4 * page, 6 * page + 1));
  EXPECT_EQ(shared.available_bytes(), 6 * page) << "a refusal changes nothing";
  EXPECT_TRUE(shared.extend(memory, 4 * page, 6 * page));
  EXPECT_EQ(shared.available_bytes(), 0u);
  shared.deallocate(memory, 10 * page);
  EXPECT_EQ(shared.available_bytes(), 10 * page);
}

TEST(shared_upstream, what_the_source_refuses_does_not_count) {
  auto source = std::make_shared<paged_upstream>(4 * page);
  shared_upstream shared(source, 6 * page);
  EXPECT_EQ(shared.available_bytes(), 4 * page) << "the source has less than the limit";
  EXPECT_EQ(shared.allocate(5 * page), nullptr);
  void* const memory = shared.allocate(3 * page);
  EXPECT_FALSE(shared.extend(memory, 3 * page, 2 * page));
  shared.decommit(memory, page);
  void* const others = source->allocate(2 * page);
  EXPECT_FALSE(shared.commit(memory, page)) << "the source gave it to others";
  source->deallocate(others, 2 * page);
  shared.deallocate(memory, 3 * page);
  void* const all = shared.allocate(4 * page);
  EXPECT_NE(all, nullptr);
  shared.deallocate(all, 4 * page);
  EXPECT_EQ(source->held(), 0u);
}

TEST(shared_upstream, vacant_pages_of_one_region_are_room_for_another) {
  auto source = std::make_shared<paged_upstream>();
  shared_upstream shared(source, 8 * page);
  void* const first = shared.allocate(4 * page);
  void* const second = shared.allocate(4 * page);
  shared.decommit(at(first, page), page);
  shared.set_aside(at(second, 2 * page), page);
  EXPECT_EQ(source->held(), 6 * page);
  void* const third = shared.allocate(page);
  ASSERT_NE(third, nullptr);
  EXPECT_FALSE(shared.commit(at(first, page), 2 * page)) << "only one page is left";
  EXPECT_TRUE(shared.commit(at(first, page), page)) << "the last page";
  EXPECT_FALSE(shared.commit(at(second, 2 * page), page));
  // The second region counts without its vacant page, the first with all that it has again.
  shared.deallocate(second, 4 * page);
  shared.deallocate(first, 4 * page);
  shared.deallocate(third, page);
  void* const all = shared.allocate(8 * page);
  EXPECT_NE(all, nullptr);
  EXPECT_EQ(shared.allocate(page), nullptr);
  shared.deallocate(all, 8 * page);
  EXPECT_EQ(source->regions(), 0u);
}

TEST(shared_upstream, an_address_that_comes_again_starts_without_vacant_pages) {
  auto source = std::make_shared<paged_upstream>();
  shared_upstream shared(source, 4 * page);
  for (int round = 0; round < 4; ++round) {
    void* const memory = shared.allocate(4 * page);
    ASSERT_NE(memory, nullptr) << "round " << round;
    EXPECT_EQ(shared.allocate(page), nullptr) << "round " << round;
    shared.decommit(memory, 2 * page);
    shared.deallocate(memory, 4 * page);
  }
}

TEST(address_share, asks_for_half_as_many_until_it_gets_them_or_is_at_the_least) {
  const address_share share;
  std::vector<std::size_t> asked;
  const auto most_of = [&](std::size_t available) {
    asked.clear();
    return share.reserve(3 * page, 18 * page, page, [&](std::size_t bytes) {
      asked.push_back(bytes / page);
      return bytes <= available;
    });
  };
  EXPECT_EQ(most_of(18 * page), 18 * page);
  EXPECT_EQ(most_of(18 * page - 1), 9 * page);
  EXPECT_EQ(most_of(3 * page), 3 * page);
  EXPECT_EQ(most_of(3 * page - 1), 0u);
  EXPECT_EQ(asked, (std::vector<std::size_t>{18, 9, 4, 3}));
}

TEST(address_share, is_smaller_the_more_there_are_but_not_than_what_is_needed) {
  const auto granted = [](std::size_t) { return true; };
  std::vector<std::unique_ptr<address_share>> shares;
  for (int n = 0; n < 1000; ++n) shares.push_back(std::make_unique<address_share>());
  const std::size_t last = shares.back()->reserve(page, 1024_GiB, page, granted);
  EXPECT_LE(last, 9_GiB);
  EXPECT_GE(last, 8_GiB);
  EXPECT_EQ(last % page, 0u);
  EXPECT_EQ(shares.back()->reserve(20_GiB, 1024_GiB, page, granted), 20_GiB);
  EXPECT_EQ(shares.front()->reserve(page, 1024_GiB, page, granted), 1024_GiB);
  shares.clear();
  EXPECT_EQ(address_share().reserve(page, 1024_GiB, page, granted), 1024_GiB) << "they came back";
}

TEST(reserved_pages_upstream, a_region_grows_to_the_last_byte_that_it_reserves) {
  reserved_pages_upstream reserved(page, 16 * page);
  EXPECT_EQ(reserved.allocate(16 * page + 1), nullptr);
  void* const whole = reserved.allocate(16 * page);
  ASSERT_NE(whole, nullptr);
  void* const part = reserved.allocate(4 * page);
  EXPECT_TRUE(reserved.extend(part, 4 * page, 12 * page));
  EXPECT_FALSE(reserved.extend(part, 4 * page, 12 * page + 1));
  reserved.deallocate(part, 16 * page);
  reserved.deallocate(whole, 16 * page);
}

TEST(reserved_pages_upstream, addresses_around_a_region_go_back) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer maps addresses of its own";
  constexpr std::size_t large = 16_MiB;
  reserved_pages_upstream reserved(large, 2 * large);
  const std::size_t before = mapped_bytes();
  std::vector<void*> regions;
  for (int n = 0; n < 8; ++n) {
    regions.push_back(reserved.allocate(large));
    EXPECT_EQ(reinterpret_cast<address>(regions.back()) % large, 0u);
  }
  // Each took a page of addresses more, to find where a page begins.
  EXPECT_NEAR(static_cast<double>(mapped_bytes()), static_cast<double>(before + 16 * large),
              static_cast<double>(large));
  for (void* region : regions) reserved.deallocate(region, large);
  EXPECT_NEAR(static_cast<double>(mapped_bytes()), static_cast<double>(before),
              static_cast<double>(large));
}

TEST(reserved_pages_upstream, the_first_region_has_most_addresses_and_the_thousandth_enough) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs terabytes of addresses";
  reserved_pages_upstream reserved;
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> regions;
    for (int n = 0; n < 1000; ++n) {
      regions.push_back(reserved.allocate(2_MiB));
      ASSERT_NE(regions.back(), nullptr) << n;
    }
    EXPECT_TRUE(reserved.extend(regions.front(), 2_MiB, 254_GiB)) << "round " << round;
    EXPECT_TRUE(reserved.extend(regions.back(), 2_MiB, 7_GiB)) << "round " << round;
    for (void* region : regions) reserved.deallocate(region, 2_MiB);
  }
}

}  // namespace
}  // namespace warpheap::host
