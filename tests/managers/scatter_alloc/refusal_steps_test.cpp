// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "full_heap.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// Each of its searches is spoilt by what the other lane frees. That one makes half of the steps,
// and probing takes about as many as a search.
TEST(scatter_alloc_refusals, search_four_times) {
  full_heap<scatter_alloc<>> heap(64_KiB, 16, 2048);
  const std::uint64_t lone = expect_no_more_in_a_crowd(heap);
  heap.give(4, 1);
  const std::uint64_t beside = heap.steps_beside(16);
  EXPECT_GT(beside, 2 * lone) << "nothing was spoilt";
  EXPECT_LE(beside, 2 * (4 + 1) * lone);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
