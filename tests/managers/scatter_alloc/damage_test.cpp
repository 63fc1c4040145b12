// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"
#include "small.hpp"

#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(scatter_alloc_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(
      8 * 1024, {32, 100, 48, 200, 300},
      {{1, {3, 115}}, {2, {20, 1537}}, {3, {25, 1065}}, {5, {24, 563}}, {6, {11, 507}}});
}

TEST(scatter_alloc_damage, sees_words_that_are_wrong_about_segments) {
  expect_damage_is_seen<two_levels>(
      8 * 1024, {16, 100},
      {{1, {3, 132}}, {2, {5, 155}}, {3, {9, 415}}, {4, {2, 24}}, {5, {6, 125}}, {6, {3, 143}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
