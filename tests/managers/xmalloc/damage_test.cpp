// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"
#include "small.hpp"

#include "warpheap/heap/failure.hpp"
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

TEST(xmalloc_damage, is_seen_in_every_zone) {
  expect_damage_is_seen<zoned>(zoned_bytes + sizeof(failure_counts),
                               {48, 112, 200, 16, 40 * 64 - 16},
                               {{1, {56, 20756}},
                                {2, {7, 222}},
                                {3, {12, 419}},
                                {4, {38, 1194}},
                                {5, {45, 1824}},
                                {6, {11, 252}},
                                {7, {30, 1427}},
                                {8, {406, 41170}},
                                {9, {6, 150}},
                                {10, {15, 625}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
