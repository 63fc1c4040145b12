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
                               {{1, {62, 20451}},
                                {2, {17, 667}},
                                {3, {16, 555}},
                                {4, {47, 1573}},
                                {5, {48, 1988}},
                                {6, {12, 279}},
                                {7, {23, 1101}},
                                {8, {139, 13736}},
                                {9, {4, 126}},
                                {10, {8, 232}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
