// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/dynasoar/dynasoar.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = dynasoar<dynasoar_config{.smallest_bytes = 16, .slots = 4}>;

TEST(dynasoar_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(8 * 1024, {16, 32, 64},
                               {{1, {45, 2455}},
                                {2, {12, 1980}},
                                {3, {19, 1082}},
                                {4, {21, 1052}},
                                {5, {133, 6742}},
                                {6, {1, 51}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
