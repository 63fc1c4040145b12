// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"
#include "small.hpp"

#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(warpheap_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(65 * 256, {60, 16, 128, 256},
                               {{1, {46, 726}},
                                {2, {17, 627}},
                                {3, {253, 6411}},
                                {4, {32, 1995}},
                                {5, {44, 791}},
                                {6, {23, 344}},
                                {7, {47, 987}},
                                {8, {356, 7281}}},
                               3);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
