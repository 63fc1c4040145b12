// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rubbish.hpp"

#include "warpheap/managers/random_walk/crw.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// From word to word, and from the last page to the first.
TEST(crw, a_thread_gets_one_page_behind_the_other) {
  const rubbish memory(8192);
  const crw<> pages(memory.all(), {}, {.page_bytes = 64});
  const std::uint32_t count = pages.page_count();
  ASSERT_GT(count, 2u * crw<>::word_bits);
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
