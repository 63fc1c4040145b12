// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(xmalloc_inspection, a_fifo_that_names_the_end_of_the_heap_is_found) {
  const heap<xmalloc<>> heap(machine(), 4_MiB);
  const auto parts = heap.ref().manager().parts();
  const auto broken = [&](int invariant) {
    const auto all = heap.validate().violations;
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& one) { return one.invariant == invariant; });
  };
  EXPECT_FALSE(broken(1));
  machine().launch({1, 1}, [&] { parts.buffered().push_second(0, parts.memory().units()); });
  EXPECT_TRUE(broken(1));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
