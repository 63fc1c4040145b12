// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "any_schedule.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/scatter_alloc/full_search.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// A heap that is full of chunks of one size.
class scatter_full_search : public ::testing::Test {
 protected:
  void fill(std::size_t bytes) {
    units_ = small::sizes::units_for(bytes);
    machine().launch({1, 1}, [&] {
      all_.format(0, 1);
      while (void* const block = all_.malloc(bytes)) blocks_.push_back(block);
    });
    std::sort(blocks_.begin(), blocks_.end());
  }
  /// Frees `count` of the blocks, each `apart` behind the last one.
  void give(std::size_t count, std::size_t apart) {
    ASSERT_GT(blocks_.size(), count * apart);
    machine().launch({1, 1}, [&] {
      for (std::size_t i = 0; i < count; ++i) all_.free(blocks_[i * apart]);
    });
  }
  void* search() const { return scatter_parts::full_search(all_.parts()).take(units_); }

  const rubbish memory_{8_KiB};
  const small all_{memory_.all(), machine().properties(), {}};
  std::vector<void*> blocks_;
  std::uint32_t units_ = 0;
};

// A page has two chunks of this size.
TEST_F(scatter_full_search, takes_from_as_many_pages_as_its_lanes_need) {
  constexpr std::uint32_t lanes = 6;  // more than a request makes rounds
  fill(128);
  give(lanes, 4);
  std::vector<void*> got(lanes);
  machine().launch({1, lanes}, [&] { got[simt::thread_rank()] = search(); });
  EXPECT_EQ(std::count(got.begin(), got.end(), nullptr), 0);
}

// Else the next request would search all pages once more.
TEST_F(scatter_full_search, says_that_none_is_left_when_it_takes_the_last_chunk) {
  fill(128);
  give(1, 1);
  machine().launch({1, 1}, [&] {
    EXPECT_FALSE(all_.parts().out().is_out(units_));
    EXPECT_NE(search(), nullptr);
    EXPECT_TRUE(all_.parts().out().is_out(units_));
  });
}

// One lane looks at all pages, and the others wait until it has.
TEST_F(scatter_full_search, serves_lanes_that_wait_for_it_from_what_it_has_seen) {
  constexpr std::uint32_t lanes = 8;  // more than a request makes rounds
  fill(16);
  give(lanes, 1);
  const std::vector<std::byte> before = memory_.contents();
  simt::explorer crowd({lanes, 1}, 100'000);
  for (std::uint64_t seed = 1; seed <= (WARPHEAP_TEST_SANITIZED ? 100 : 1000); ++seed) {
    std::copy(before.begin(), before.end(), memory_.all().base);
    std::vector<void*> got(lanes);
    const auto outcome = crowd.run(any_schedule(seed), [&] { got[simt::block_rank()] = search(); });
    ASSERT_EQ(outcome.stuck, "");
    ASSERT_EQ(std::count(got.begin(), got.end(), nullptr), 0) << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
