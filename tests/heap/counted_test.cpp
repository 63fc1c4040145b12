// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the layer `counted` says about the calls to a heap.
#include "machine.hpp"
#include "surrounded.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(counted_layer, the_most_at_once_counts_all_that_was_held_then) {
  const heap<counted<rw_malloc<>>> subject(machine(), 1_MiB);
  machine().launch({1, 1}, [&] {
    const auto ref = subject.ref();
    void* const first = ref.malloc(100);
    void* const second = ref.malloc(60);
    ref.free(first);
    ref.free(ref.malloc(40));
    ref.free(second);
  });
  const auto calls = subject.stats().calls;
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->mallocs, 3u);
  EXPECT_EQ(calls->frees(), 3u);
  EXPECT_EQ(calls->peak_blocks, 2u);
  EXPECT_EQ(calls->peak_bytes, 160u);
}

TEST(counted_layer, foreign_pointers_are_ignored_and_not_counted) {
  using counting = counted<rw_malloc<>>;
  surrounded<counting> subject;
  EXPECT_TRUE(subject.stays_as_it_is([](const counting& manager, std::byte* foreign) {
    manager.free(foreign);
    EXPECT_EQ(manager.counts()->live_blocks, 0u);
  }));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
