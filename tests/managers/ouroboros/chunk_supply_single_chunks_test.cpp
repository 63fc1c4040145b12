// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A class of runs in a supply that has enough chunks, none of them beside another one.
#include "warpheap/managers/ouroboros/ouroboros.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include "rubbish.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Chunks of 64 bytes; 128 bytes are half of a run of four.
using two_blocks_a_run = ouroboros<ouroboros_config{.queue = queue_kind::static_array,
                                                    .item = item_kind::chunks,
                                                    .smallest_page = 16,
                                                    .queues = 3,
                                                    .second_queues = 2}>;

// The lane has promised the other block of the run. That it expects this itself says nothing of
// memory.
TEST(ouroboros_single_chunks, a_block_of_a_run_is_refused_and_not_waited_for) {
  const rubbish memory(64 * 1024);
  const two_blocks_a_run manager(memory.all(), {}, {});
  manager.format(0, 1);
  simt::explorer alone({1, 1}, 1'000'000);
  const simt::schedule order{simt::strategy::sticky, 1};
  std::vector<void*> all;
  const auto fill = [&] {
    while (void* const block = manager.malloc(64)) all.push_back(block);
  };
  ASSERT_EQ(alone.run(order, fill).stuck, "");
  std::sort(all.begin(), all.end());
  const auto free_every_second = [&] {
    for (std::size_t i = 0; i < all.size(); i += 2) manager.free(all[i]);
  };
  ASSERT_EQ(alone.run(order, free_every_second).stuck, "");
  ASSERT_GE(manager.map().supply().left().read().count, 4);
  void* block = nullptr;
  EXPECT_EQ(alone.run(order, [&] { block = manager.malloc(128); }).stuck, "");
  EXPECT_EQ(block, nullptr);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
