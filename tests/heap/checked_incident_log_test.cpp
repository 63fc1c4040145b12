// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `checked` keeps when its log is full, and what it forgets at a reset.
#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// One lane writes the byte behind a block, and frees the block.
template <class Handle>
struct overrun_by_one {
  Handle heap;
  WARPHEAP_DEVICE void operator()() const {
    auto* const block = static_cast<std::byte*>(heap.malloc(40));
    block[40] = std::byte{0x11};
    heap.free(block);
  }
};

TEST(checked_log, damage_for_which_there_is_no_room_is_counted) {
  using manager_type = checked<gallatin<>, checked_config{.log_entries = 1}>;
  const heap<manager_type> heap(machine(), std::size_t{1} << 20);
  for (int i = 0; i < 3; ++i) {
    machine().launch({1, 1}, overrun_by_one<handle<manager_type>>{heap.ref()});
  }
  const incident_report report = heap.incidents();
  EXPECT_EQ(report.incidents.size(), 1u);
  EXPECT_EQ(report.unrecorded, 2u);
}

TEST(checked_log, a_reset_forgets_blocks_in_use) {
  heap<checked<gallatin<>>> heap(machine(), std::size_t{1} << 20);
  ASSERT_NE(take_one(heap, 40), nullptr);
  EXPECT_FALSE(heap.incidents().leaks.empty());
  heap.reset();
  EXPECT_TRUE(heap.incidents().leaks.empty());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
