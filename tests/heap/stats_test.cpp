// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the state of a heap says in words.
#include "warpheap/heap/stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>

namespace warpheap {
namespace {

using ::testing::HasSubstr;

TEST(stats, a_heap_is_full_when_less_than_a_sixteenth_is_not_in_use) {
  const auto words_for = [](std::uint64_t unused) {
    heap_stats full;
    full.heap_bytes = 1600;
    full.bytes_in_use = 1600 - unused;
    full.failures = 1;
    return full.describe();
  };
  EXPECT_THAT(words_for(99), HasSubstr("99 bytes are not in use now: the heap is full\n"));
  EXPECT_THAT(words_for(100), HasSubstr("100 bytes are not in use now: they are the manager's"));
}

}  // namespace
}  // namespace warpheap
