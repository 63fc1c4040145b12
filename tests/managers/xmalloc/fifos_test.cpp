// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first level of FIFOs by itself.
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/xmalloc/fifos.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using namespace xmalloc_parts;
constexpr xmalloc_config config;
using sizes = geometry<config>;

TEST(xmalloc_buffers, blocks_are_found_in_every_list_of_their_class) {
  rubbish memory(1_MiB);
  region_cursor cursor = memory.cursor();
  const fifos<config> all(cursor, 4096);
  machine().launch({1, 1}, [&] {
    all.format(0, 1);
    constexpr std::uint32_t cls = 1;
    EXPECT_EQ(all.list_with_blocks(cls), none);
    for (std::uint32_t list = 0; list < sizes::lists; ++list) {
      EXPECT_TRUE(all.list(cls, list).push(alone(), 7));
      EXPECT_EQ(all.list_with_blocks(cls), list);
      EXPECT_EQ(all.list_with_blocks(cls - 1), none);
      std::uint32_t unit = 0;
      EXPECT_TRUE(fifos<config>::pop(alone(), all.list(cls, list), unit));
      EXPECT_EQ(unit, 7u);
    }
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
