// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges of offsets: against a model in C++, and through the C interface.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "model_heap.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/c/range.h"
#include "warpheap/host/pools/offset_range.hpp"

namespace warpheap::host {
namespace {

// Blocks do not overlap, and a request fails only if the model has no hole for it, whatever the
// granule is.
void compare_with_model(std::size_t granule, unsigned seed) {
  const std::uint64_t bytes = 5000 * granule;
  offset_range range(bytes + granule - 1, granule);
  ASSERT_EQ(range.bytes(), bytes);
  one_region::model_heap model({{0, bytes}});
  std::vector<offset_range::block> live;
  std::mt19937_64 random(seed);
  for (int step = 0; step < 20000; ++step) {
    if (random() % 20 < 11 || live.empty()) {
      const std::uint64_t wanted = 1 + random() % ((std::uint64_t{1} << random() % 9) * granule);
      const std::uint64_t alignment = granule << (random() % 8 == 0 ? random() % 6 : 0);
      const offset_range::block block = range.allocate(wanted, alignment);
      if (block.bytes == 0) {
        for (const auto& [where, size] : model.free()) {
          ASSERT_LT(size, align_up<std::uint64_t>(wanted, granule) + alignment) << "step " << step;
        }
        continue;
      }
      ASSERT_EQ(block.bytes, align_up<std::uint64_t>(wanted, granule));
      ASSERT_EQ(block.offset % alignment, 0u);
      const auto hole = model.free().upper_bound(block.offset);
      ASSERT_NE(hole, model.free().begin());
      ASSERT_GE(std::prev(hole)->first + std::prev(hole)->second, block.offset + block.bytes)
          << "overlap";
      model.take({block.offset, block.bytes});
      live.push_back(block);
    } else {
      offset_range::block& block = live[random() % live.size()];
      ASSERT_EQ(range.deallocate(block.handle), block.bytes);
      ASSERT_EQ(range.deallocate(block.handle), 0u) << "freed twice";
      model.give_back({block.offset, block.bytes});
      block = live.back();
      live.pop_back();
    }
    if (step % 500 == 0) {
      ASSERT_EQ(range.check(), std::nullopt) << "step " << step;
    }
  }
  const warpheap_range_stats stats = range.stats();
  EXPECT_EQ(stats.blocks, live.size());
  EXPECT_EQ(stats.holes, model.free().size());
  for (const auto& block : live) range.deallocate(block.handle);
  EXPECT_EQ(range.allocate(bytes).bytes, bytes) << "all of it merged";
}

TEST(offset_range, agrees_with_a_model_at_any_granule) {
  for (const std::size_t granule : {1u, 16u, 256u, 65536u}) compare_with_model(granule, 7);
}

TEST(offset_range, sizes_out_of_range_are_refused_with_the_limit) {
  EXPECT_THROW(offset_range(1_MiB, 100), invalid_argument);
  EXPECT_THROW(offset_range(255, 256), invalid_argument);
  EXPECT_THROW(offset_range(offset_range::most_bytes + 1), invalid_argument);
  try {
    offset_range(100, 4096);
    FAIL() << "accepted";
  } catch (const invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find("100 bytes"), std::string::npos) << refused.what();
    EXPECT_NE(std::string(refused.what()).find("4096"), std::string::npos) << refused.what();
  }
  offset_range range(offset_range::most_bytes);
  EXPECT_EQ(range.allocate(0).bytes, 0u);
  EXPECT_EQ(range.allocate(~std::uint64_t{0}).bytes, 0u);
  EXPECT_EQ(range.allocate(1, std::uint64_t{1} << 63).bytes, 0u);
  EXPECT_EQ(range.allocate(offset_range::most_bytes).bytes, offset_range::most_bytes);
}

TEST(offset_range, a_range_has_less_than_two_to_the_32_granules) {
  const std::uint64_t most = (std::uint64_t{1} << 32) - 1;
  for (const std::size_t granule : {1u, 256u}) {
    EXPECT_EQ(offset_range(most * granule, granule).granule(), granule);
    EXPECT_EQ(offset_range((most + 1) * granule, granule).granule(), 2 * granule);
    EXPECT_EQ(offset_range((most + 1) * granule, 4 * granule).granule(), 4 * granule);

    // The last granule is as good as the first one.
    offset_range range(most * granule, granule);
    const offset_range::block first = range.allocate((most - 1) * granule);
    const offset_range::block last = range.allocate(1);
    EXPECT_EQ(first.bytes, (most - 1) * granule);
    EXPECT_EQ(last.offset, (most - 1) * granule);
    EXPECT_EQ(last.bytes, granule);
    EXPECT_EQ(range.allocate(1).bytes, 0u);
    EXPECT_EQ(range.check(), std::nullopt);
    EXPECT_EQ(range.deallocate(first.handle), (most - 1) * granule);
    EXPECT_EQ(range.deallocate(last.handle), granule);
    EXPECT_EQ(range.stats().largest_hole_bytes, range.bytes());
  }
  // No block is larger than its request by more than a 2^31th of the range.
  offset_range largest(offset_range::most_bytes, 1);
  EXPECT_EQ(largest.allocate(1).bytes, offset_range::most_bytes >> 31);
}

TEST(offset_range, c_callers_get_blocks_and_errors) {
  warpheap_range* range = nullptr;
  EXPECT_EQ(warpheap_range_create(1_MiB, 3, &range), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(range, nullptr);
  ASSERT_EQ(warpheap_range_create(1_MiB, 0, &range), WARPHEAP_OK);
  warpheap_range_block block{};
  ASSERT_EQ(warpheap_range_allocate(range, 1000, 1, &block), WARPHEAP_OK);
  EXPECT_EQ(block.bytes, 1024u);
  EXPECT_NE(block.handle, 0u);
  const warpheap_range_block known = block;
  EXPECT_EQ(warpheap_range_allocate(range, 0, 1, &block), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(warpheap_range_allocate(range, 1, 3, &block), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_NE(std::string(warpheap_last_error()).find("alignment of 3"), std::string::npos);
  EXPECT_EQ(warpheap_range_allocate(range, 1, 0, &block), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(warpheap_range_allocate(range, 1_MiB, 1, &block), WARPHEAP_OUT_OF_MEMORY);
  EXPECT_NE(std::string(warpheap_last_error()).find("1048576 bytes"), std::string::npos);
  EXPECT_EQ(warpheap_range_allocate(range, ~std::uint64_t{0}, 1, &block), WARPHEAP_OUT_OF_MEMORY);
  EXPECT_EQ(block.handle, known.handle) << "a result that was changed by a failure";
  warpheap_range_stats stats{};
  warpheap_range_get_stats(range, &stats);
  EXPECT_EQ(stats.bytes_in_use, 1024u);
  EXPECT_EQ(stats.largest_hole_bytes, 1_MiB - 1024);
  EXPECT_EQ(warpheap_range_check(range), WARPHEAP_OK);
  EXPECT_EQ(warpheap_range_free(range, block.handle), WARPHEAP_OK);
  EXPECT_EQ(warpheap_range_free(range, block.handle), WARPHEAP_INVALID_ARGUMENT);
  EXPECT_EQ(warpheap_range_free(range, 0), WARPHEAP_INVALID_ARGUMENT);
  warpheap_range_destroy(range);
}

// The C interface takes another way to the same block (src/host/c/range.cpp).
TEST(offset_range, c_callers_get_the_blocks_that_cpp_callers_get) {
  warpheap_range* range = nullptr;
  ASSERT_EQ(warpheap_range_create(1_MiB, 0, &range), WARPHEAP_OK);
  offset_range same(1_MiB);
  std::vector<offset_range::block> live;
  std::mt19937_64 random(5);
  int refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 20 < 11 || live.empty()) {
      const std::uint64_t wanted = 1 + random() % (256u << random() % 8);
      const std::uint64_t alignment = std::uint64_t{1} << random() % 12;
      const offset_range::block expected = same.allocate(wanted, alignment);
      warpheap_range_block block{};
      const warpheap_status status = warpheap_range_allocate(range, wanted, alignment, &block);
      ASSERT_EQ(status, expected.bytes != 0 ? WARPHEAP_OK : WARPHEAP_OUT_OF_MEMORY);
      ASSERT_EQ(block.offset, expected.offset) << "step " << step;
      ASSERT_EQ(block.bytes, expected.bytes);
      ASSERT_EQ(block.handle, expected.handle);
      if (status == WARPHEAP_OK) live.push_back(block);
      if (status != WARPHEAP_OK) ++refused;
    } else {
      offset_range::block& block = live[random() % live.size()];
      ASSERT_EQ(warpheap_range_free(range, block.handle), WARPHEAP_OK);
      ASSERT_EQ(same.deallocate(block.handle), block.bytes);
      block = live.back();
      live.pop_back();
    }
    if (step % 500 == 0) {
      ASSERT_EQ(warpheap_range_check(range), WARPHEAP_OK) << warpheap_last_error();
    }
  }
  EXPECT_GT(refused, 0) << "the range was never full";
  warpheap_range_destroy(range);
}

}  // namespace
}  // namespace warpheap::host
