// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"
#include "small.hpp"

#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(xmalloc_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(12 * 1024, {48, 112, 200, 16},
                               {{1, {62, 12069}},
                                {2, {15, 659}},
                                {3, {16, 557}},
                                {4, {43, 1376}},
                                {5, {47, 1964}},
                                {6, {12, 279}},
                                {7, {24, 844}},
                                {8, {40, 3480}},
                                {9, {4, 126}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
