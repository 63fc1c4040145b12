// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An inspection sees damage: how many words break each invariant.
#include "damage.hpp"

#include "warpheap/managers/ouroboros/memory_map.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

constexpr ouroboros_config few_small_chunks{.queue = queue_kind::static_array,
                                            .item = item_kind::chunks,
                                            .smallest_page = 16,
                                            .queues = 3,
                                            .second_queues = 1};

TEST(ouroboros_damage, sees_words_that_are_wrong) {
  expect_damage_is_seen<ouroboros<few_small_chunks>>(12 * 1024, {16, 24, 64, 128},
                                                     {{1, {72, 572}},
                                                      {2, {67, 4559}},
                                                      {4, {17, 594}},
                                                      {5, {22, 46066}},
                                                      {6, {33, 1399}},
                                                      {7, {19, 334}}});
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
