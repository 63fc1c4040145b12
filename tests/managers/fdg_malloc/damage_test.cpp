// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// That inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/fdg_malloc/fdg_malloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = fdg_malloc<>;

TEST(fdg_malloc_damage, sees_words_that_are_wrong) {
  const exposed_heap<small> subject(64 * 1024);

  expect_valid(subject.heap());
  const decltype(subject)::answers expected = {{1, {4, 80}}, {2, {61, 4187}}, {3, {2, 120}},
                                               {4, {2, 120}}, {5, {2, 120}}, {6, {59, 356}}};
  EXPECT_EQ(subject.guarded_words(~0u), expected);
  expect_valid(subject.heap());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
