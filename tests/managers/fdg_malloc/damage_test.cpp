// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = fdg_malloc<>;

/// Two lanes share a heap, and take blocks of a superblock together and longer ones.
struct begin_and_take {
  handle<small> from;
  WARPHEAP_DEVICE void operator()() const {
    auto mine = from.begin();
    for (const std::size_t bytes : {16, 100, 5000}) from.malloc(mine, bytes);
  }
};

TEST(fdg_malloc_damage, sees_words_that_are_wrong) {
  if (address_checked) GTEST_SKIP() << counted_elsewhere;
  const exposed_heap<small> subject(64 * 1024);
  machine().launch({1, 2}, begin_and_take{subject.heap().ref()});
  expect_valid(subject.heap());
  const decltype(subject)::answers expected = {{1, {4, 113}},  {2, {61, 11606}}, {3, {10, 1405}},
                                               {4, {8, 1301}}, {5, {3, 1116}},   {6, {60, 1310}},
                                               {7, {1, 51}}};
  EXPECT_EQ(subject.guarded_words(~0u), expected);
  expect_valid(subject.heap());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
