// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/random_walk/rw.hpp"
#include "warpheap/managers/random_walk/rw_bm.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(rw_malloc_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<rw_malloc<>>(8192, {64, 16, 128, 24},
                                     {{1, {1, 26}}, {2, {2, 53}}, {3, {2, 38}}, {4, {3, 68}}});
}

TEST(rw_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<rw<>>(8192, {256, 100}, {{1, {24, 1152}}});
}

TEST(rw_bm_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<rw_bm<>>(16384, {256, 100}, {{1, {1, 26}}});
}

constexpr random_walk::bitmap_config with_locks{.search = random_walk::search_kind::independent,
                                                .lock_map = true};

TEST(rw_bm_damage, sees_a_word_that_is_locked) {
  expect_damage_is_seen<rw_bm<with_locks>>(16384, {256, 100}, {{1, {1, 26}}, {2, {1, 51}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
