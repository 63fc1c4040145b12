// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is reported of the gaps around one block.
#include "machine.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Damages both guards of a block.
template <class Handle>
struct write_around {
  Handle heap;
  WARPHEAP_DEVICE void operator()() const {
    auto* const block = static_cast<std::byte*>(heap.malloc(40));
    block[-1] = block[41] = std::byte{0x11};
    heap.free(block);
  }
};

/// Writes to a block from one byte before it up to one byte behind it.
template <class Handle>
struct write_across {
  Handle heap;
  WARPHEAP_DEVICE void operator()() const {
    auto* const block = static_cast<std::byte*>(heap.malloc(40));
    for (int i = -1; i <= 40; ++i) block[i] = std::byte{0x11};
    heap.free(block);
  }
};

TEST(checked_gaps, a_write_across_a_block_that_comes_from_no_other_one_is_reported) {
  using manager_type = checked<gallatin<>>;
  const heap<manager_type> heap(machine(), std::size_t{1} << 20);
  machine().launch({1, 1}, write_across<handle<manager_type>>{heap.ref()});
  const auto found = heap.incidents().incidents;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].what, incident::kind::underrun);
}

TEST(checked_gaps, both_sides_of_a_block_are_reported) {
  using manager_type = checked<gallatin<>>;
  const heap<manager_type> heap(machine(), std::size_t{1} << 20);
  machine().launch({1, 1}, write_around<handle<manager_type>>{heap.ref()});
  const auto found = heap.incidents().incidents;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].what, incident::kind::underrun);
  EXPECT_EQ(found[1].what, incident::kind::overwritten);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
