// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thousand pools on a large device: addresses and books suffice for all. Over a driver of the
// tests' own, so without a GPU.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <memory>
#include <vector>

#include "fake_driver.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/cuda/virtual_memory_upstream.hpp"
#include "warpheap/host/pools/make_pool.hpp"

namespace warpheap::host::cuda {
namespace {

constexpr std::size_t device_bytes = 150'000'000'000;

class many_device_pools : public testing::Test {
 protected:
  many_device_pools() { fake.device_bytes = device_bytes; }
  ~many_device_pools() override {
    pools.clear();
    EXPECT_TRUE(fake.addresses.empty());
    EXPECT_TRUE(fake.handles.empty());
    fake.device_bytes = fake_driver::usual_device_bytes;
  }

  // Makes pools with a block each, until there are `count`.
  void make_pools(std::size_t count) {
    while (pools.size() < count) {
      pools.push_back(make_pool("tlsf", std::make_shared<virtual_memory_upstream>(0),
                                std::make_shared<no_events>()));
      ASSERT_NE(pools.back()->try_allocate(1000, 1, stream_id::none), nullptr)
          << "pool " << pools.size();
    }
  }

  fake_driver& fake = fake_driver::get();
  std::vector<std::unique_ptr<pool_interface>> pools;
};

TEST_F(many_device_pools, a_thousand_have_addresses) {
  make_pools(1000);
  EXPECT_LE(fake.reserved(), fake_driver::address_limit / 2);
  // Any of them may take what the device has left: the last one in a second region.
  void* const large = pools.back()->try_allocate(100_GiB, 1, stream_id::none);
  EXPECT_NE(large, nullptr);
  EXPECT_EQ(pools.back()->stats().regions, 2u);
  pools.back()->deallocate(large, stream_id::none);
  EXPECT_GE(pools.back()->trim(0), 100_GiB);
  EXPECT_NE(pools.front()->try_allocate(100_GiB, 1, stream_id::none), nullptr);
  EXPECT_EQ(pools.front()->stats().regions, 1u);
}

// On a full device, every second block is freed, and larger ones come from the pages of the holes:
// from those of one region as well as from those of the many that the last of the pools has.
TEST_F(many_device_pools, pages_of_holes_serve_large_blocks_in_one_region_and_in_many) {
  fake.device_bytes = 20'000'000'000;
  make_pools(1000);
  for (const auto& pool : {std::ref(pools.front()), std::ref(pools.back())}) {
    pool_interface& filled = *pool.get();
    std::vector<void*> blocks;
    while (void* block = filled.try_allocate(64_MiB, 1, stream_id::none)) blocks.push_back(block);
    ASSERT_GE(blocks.size(), 200u);
    std::size_t holes = 0;
    for (std::size_t n = 0; n < blocks.size(); n += 2, ++holes) {
      filled.deallocate(blocks[n], stream_id::none);
    }
    std::size_t served = 0;
    while (filled.try_allocate(128_MiB, 1, stream_id::none) != nullptr) ++served;
    // A hole of 32 pages has 31 whole ones: the pool's first block is small.
    EXPECT_GE(served, holes * 31 / 64) << filled.stats().regions << " regions";
    EXPECT_EQ(filled.stats().regions == 1, &pool.get() == &pools.front());
    pool.get().reset();
  }
}

// Heap and mapped bytes in use, those of the driver of the tests' own among them.
std::size_t bytes_of_process() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

TEST_F(many_device_pools, one_with_a_block_takes_less_than_64_KiB) {
  if (WARPHEAP_TEST_SANITIZED) GTEST_SKIP() << "another allocator";
  const std::size_t before = bytes_of_process();
  make_pools(100);
  EXPECT_LE((bytes_of_process() - before) / 100, 64_KiB);
}

TEST_F(many_device_pools, the_first_has_room_to_grow_after_its_pages_have_moved) {
  make_pools(1);
  EXPECT_GE(fake.reserved(), 8 * device_bytes);
  make_pools(1000);
  pools.clear();
  make_pools(1);
  EXPECT_GE(fake.reserved(), 8 * device_bytes) << "those of the thousand came back";
}

TEST_F(many_device_pools, a_region_takes_fewer_addresses_where_others_have_them) {
  const std::size_t left = 100_GiB;
  const std::size_t others = fake_driver::address_limit - left;
  fake.addresses[1] = others;
  make_pools(1);
  EXPECT_GE(fake.reserved() - others, left / 2);
  make_pools(4);
  fake.addresses.erase(1);
}

TEST_F(many_device_pools, a_region_grows_to_the_last_page_that_it_reserves_and_no_further) {
  fake.device_bytes = 4 * fake_driver::page;
  virtual_memory_upstream source(0);
  constexpr std::size_t page = fake_driver::page;
  void* const region = source.allocate(page);
  ASSERT_NE(region, nullptr);
  for (std::size_t pages = 1; pages < 32; ++pages) {
    ASSERT_TRUE(source.extend(region, pages * page, page)) << pages;
    source.decommit(static_cast<char*>(region) + (pages - 1) * page, page);
  }
  EXPECT_EQ(fake.mapped.size(), 1u);
  EXPECT_FALSE(source.extend(region, 32 * page, page));
  EXPECT_FALSE(source.extend(region, 32 * page, ~std::size_t{0}));
  EXPECT_FALSE(source.extend(region, 31 * page, ~std::size_t{0} - 31 * page + 1));
  EXPECT_TRUE(source.commit(region, 2 * page)) << "where pages were before";
  EXPECT_EQ(fake.mapped.size(), 3u);
  source.deallocate(region, 32 * page);
  EXPECT_TRUE(fake.mapped.empty());
}

// As that of a policy that has no pages: the rest of the last page is the region's, too.
TEST_F(many_device_pools, a_region_that_ends_within_a_page_grows_into_the_rest_of_it_first) {
  virtual_memory_upstream source(0);
  constexpr std::size_t page = fake_driver::page;
  void* const region = source.allocate(page + page / 2);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(fake.mapped.size(), 2u);
  EXPECT_TRUE(source.extend(region, page + page / 2, page / 4));
  EXPECT_TRUE(source.extend(region, page + page / 4 * 3, page / 4));
  EXPECT_EQ(fake.mapped.size(), 2u);
  EXPECT_TRUE(source.extend(region, 2 * page, page / 2));
  EXPECT_TRUE(source.extend(region, 2 * page + page / 2, page));
  EXPECT_EQ(fake.mapped.size(), 4u);
  source.deallocate(region, 3 * page + page / 2);
  EXPECT_TRUE(fake.mapped.empty());
}

// AddressSanitizer reports a read behind the last page that the region ever had.
TEST_F(many_device_pools, a_region_that_grows_by_nothing_stays_as_it_is) {
  virtual_memory_upstream source(0);
  constexpr std::size_t page = fake_driver::page;
  void* const region = source.allocate(2 * page);
  ASSERT_NE(region, nullptr);
  EXPECT_TRUE(source.extend(region, 2 * page, 0));
  EXPECT_EQ(fake.mapped.size(), 2u);
  // A region whose last page has no memory gets none, either.
  source.decommit(static_cast<char*>(region) + page, page);
  EXPECT_TRUE(source.extend(region, page, 0));
  EXPECT_EQ(fake.mapped.size(), 1u);
  source.deallocate(region, 2 * page);
}

}  // namespace
}  // namespace warpheap::host::cuda
