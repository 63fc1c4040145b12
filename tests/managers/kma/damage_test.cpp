// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/kma/kma.hpp"

#include <gtest/gtest.h>
#include <cstring>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = kma<kma_config{
    .superblock_bytes = 64, .superblocks_per_shard = 1, .superblocks_per_queue = 12}>;

TEST(kma_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<small>(16 * 1024, {16, 24, 64},
                               {{1, {26, 1543}},
                                {2, {293, 347310}},
                                {3, {288, 8778}},
                                {4, {145, 1090}},
                                {5, {140, 140}},
                                {6, {1, 51}}});
}

// The first block lies behind the last bucket.
TEST(kma_damage, an_inspection_does_not_read_what_users_write) {
  const exposed_heap<small> subject(16 * 1024);
  for (void* const block : take_all(subject.heap(), 64, 1)) std::memset(block, 0xff, 64);
  expect_valid(subject.heap());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
