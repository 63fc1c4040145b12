// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/halloc/heads.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using heads_type = halloc_parts::heads<halloc_parts::halloc_config{}>;

TEST(halloc_heads, format_touches_nothing_behind_them) {
  rubbish memory(16_KiB);
  region_cursor cursor = memory.cursor();
  const heads_type heads({}, cursor);
  heads.format(0, 1);
  EXPECT_EQ(heads.head(heads_type::shape_type::sizes - 1), heads_type::none);
  EXPECT_TRUE(memory.is_untouched_behind(cursor));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
