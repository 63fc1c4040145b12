// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rubbish.hpp"

#include "warpheap/managers/random_walk/bitmap_pages.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using clustered = random_walk::bitmap_pages<random_walk::bitmap_config{
    .search = random_walk::search_kind::clustered}>;

// From word to word, and from the last page to the first.
TEST(random_walk_clustered, a_thread_gets_one_page_behind_the_other) {
  const rubbish memory(8192);
  const clustered pages(memory.all(), {}, {.page_bytes = 64});
  const std::uint32_t count = pages.page_count();
  ASSERT_GT(count, 2u * clustered::word_bits);
  pages.format(0, 1);
  std::vector<std::uint32_t> got(count);
  simt::explorer one_lane({1, 1}, 200'000);
  const auto outcome = one_lane.run({simt::strategy::sticky, 1}, [&] {
    for (std::uint32_t& page : got) page = pages.take_page();
  });
  EXPECT_EQ(outcome.stuck, "");
  for (std::uint32_t i = 1; i < count; ++i) {
    EXPECT_EQ(got[i], got[i - 1] + 1 == count ? 0 : got[i - 1] + 1) << i;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
