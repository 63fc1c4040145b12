// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = gallatin<gallatin_config{.segment_bytes = 512,
                                       .smallest_slice = 16,
                                       .largest_slice = 64,
                                       .least_segments = 1,
                                       .buffer_share = 1}>;

TEST(gallatin_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(16 * 1024, {16, 64, 30, 200},
                               {{1, {14, 628}},
                                {2, {19, 1250}},
                                {3, {21, 1031}},
                                {4, {8, 630}},
                                {5, {117, 4658}},
                                {6, {55, 2596}},
                                {7, {12, 15}},
                                {8, {5, 255}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
