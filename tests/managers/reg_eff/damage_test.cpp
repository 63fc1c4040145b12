// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = reg_eff<reg_eff_config{
    .offsets = memory_offsets::per_multiprocessor, .header_words = 2, .presplit_bytes = 64}>;

TEST(reg_eff_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(8 * 1024, {16, 40, 88},
                               {{1, {44, 2946}},
                                {2, {52, 1578}},
                                {3, {17, 612}},
                                {4, {6, 298}},
                                {5, {4, 95}},
                                {6, {4, 172}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
