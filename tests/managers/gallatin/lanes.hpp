// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using gallatin_heap = heap<gallatin<>>;

inline void expect_apart(block_list blocks, std::size_t bytes) {
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    ASSERT_GE(static_cast<std::size_t>(blocks[i] - blocks[i - 1]), bytes);
  }
}

inline std::size_t all_segments(const gallatin_heap& of) {
  const auto shape = of.ref().manager().shape();
  return std::size_t{shape.segments()} << shape.segment_shift();
}

}  // namespace test
WARPHEAP_END_NAMESPACE
