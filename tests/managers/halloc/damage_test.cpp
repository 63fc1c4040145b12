// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/halloc/halloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = halloc<halloc_config{
    .largest_slab = 4096, .smallest_slab = 4096, .slabs = 1, .sparse = 250, .probes = 4}>;

TEST(halloc_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(30 * 1024, {512, 1024, 768, 100},
                               {{1, {4, 12}},
                                {2, {36, 1839}},
                                {3, {164, 8178}},
                                {4, {20, 1085}},
                                {5, {6, 80}},
                                {6, {16, 816}},
                                {7, {111, 4919}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
