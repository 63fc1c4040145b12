// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// That inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/dynasoar/dynasoar.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = dynasoar<dynasoar_config{.smallest_bytes = 16, .slots = 4}>;

TEST(dynasoar_damage, sees_words_that_are_wrong) {
  const exposed_heap<small> subject(8 * 1024);
  for (const std::size_t bytes : {16, 32, 64}) {
    test::take(subject.heap(), bytes, 2);
    give(subject.heap(), test::take(subject.heap(), bytes, 3));
  }
  expect_valid(subject.heap());
  const decltype(subject)::answers expected = {{1, {45, 2455}}, {2, {12, 1980}},  {3, {19, 1082}},
                                               {4, {21, 1052}}, {5, {133, 6742}}, {6, {1, 51}}};
  EXPECT_EQ(subject.guarded_words(~0u), expected);
  expect_valid(subject.heap());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
