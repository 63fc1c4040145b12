// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// That inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/random_walk/rw_malloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = rw_malloc<>;

TEST(rw_malloc_damage, sees_words_that_are_wrong) {
  const exposed_heap<small> subject(64 * 64);
  for (const std::size_t bytes : {64, 16, 128, 24}) {
    test::take(subject.heap(), bytes, 2);
    give(subject.heap(), test::take(subject.heap(), bytes, 3));
  }
  expect_valid(subject.heap());
  const decltype(subject)::answers expected = {{1, {1, 24}}, {2, {2, 35}}, {3, {2, 6}},
                                               {4, {3, 36}}};
  EXPECT_EQ(subject.guarded_words(~0u), expected);
  expect_valid(subject.heap());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
