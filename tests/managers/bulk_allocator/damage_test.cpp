// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"
#include "small.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = bulk_allocator<small_pages>;

TEST(bulk_allocator_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(8 * 1024, {32, 16, 100, 200},
                               {{1, {10, 1362}},
                                {2, {20, 1007}},
                                {3, {4, 49}},
                                {4, {53, 2481}},
                                {5, {30, 1419}},
                                {6, {33, 563}},
                                {7, {66, 2568}},
                                {8, {26, 355}},
                                {9, {1, 12}},
                                {10, {4, 24}}});
}

TEST(bulk_allocator_damage, there_is_none_in_heaps_that_end_with_a_chunk_or_not) {
  bool ends_with_a_chunk = false;
  for (std::size_t more = 0; more < 10 * 128; more += 128) {
    const exposed_heap<small> subject(8 * 1024 + more);
    ends_with_a_chunk = ends_with_a_chunk || subject.heap().ref().manager().pages() % 4 == 0;
    while (!test::take(subject.heap(), 16, 3).empty()) {
    }
    expect_valid(subject.heap());
  }
  EXPECT_TRUE(ends_with_a_chunk);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
