// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// Behind the memory table there is a word that looks like a run of one segment.
TEST(gallatin_foreign_pointers, a_pointer_just_behind_the_segments_is_ignored) {
  const rubbish memory(16_MiB);
  const gallatin<> manager(memory.all(), machine().properties(), {});
  manager.format(0, 1);
  const std::uint32_t behind = manager.shape().segments();
  ASSERT_NE(behind % 32, 0u) << "words behind those of the segments belong to nothing else";
  manager.buffers().blocks().segments().set_kind(behind, gallatin_segment::run(1));
  const auto before = memory.contents();
  machine().launch({1, 1}, [&] { manager.free(manager.segments() + manager.largest_block()); });
  EXPECT_TRUE(memory.contents() == before);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
