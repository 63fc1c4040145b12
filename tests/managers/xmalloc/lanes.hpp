// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using xmalloc_heap = heap<xmalloc<>>;

/// Nothing is in use, and the whole heap is available as one block.
inline void expect_whole(const xmalloc_heap& of) {
  expect_valid(of);
  EXPECT_EQ(of.stats().blocks_in_use, 0u);
  EXPECT_EQ(of.stats().bytes_in_use, 0u);
  std::byte* const everything = take_one(of, of.largest_block());
  ASSERT_NE(everything, nullptr);
  give(of, {everything});
  expect_valid(of);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
