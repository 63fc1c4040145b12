// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More lanes than there are chunks at the one offset where all of them begin to search.
#include "machine.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using one_offset = reg_eff<reg_eff_config{.offsets = memory_offsets::one, .header_words = 2}>;

/// Blocks that all lanes take and free again, in a heap four times as large.
void expect_no_null(const device& on, std::size_t bytes, int launches) {
  constexpr std::uint64_t threads = sanitized ? 512 : 4096;
  const warpheap::heap<one_offset> heap(on, 4 * threads * bytes);
  std::vector<void*> blocks(threads);
  for (int i = 0; i < launches; ++i) {
    on.launch(simt::grid::covering(threads),
              [&, ref = heap.ref()] { blocks[simt::thread_rank()] = ref.malloc(bytes); });
    ASSERT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0)
        << "three quarters of the heap are free; launch " << i;
    on.launch(simt::grid::covering(threads),
              [&, ref = heap.ref()] { ref.free(blocks[simt::thread_rank()]); });
  }
  EXPECT_TRUE(heap.validate().ok());
}

constexpr int launches = sanitized ? 4 : 60;

TEST(reg_eff_crowd, gets_blocks_while_most_of_the_heap_is_free) {
  const device usual = device::cpu({.workers = 2});
  expect_no_null(usual, 4096, launches);
  expect_no_null(usual, 8192, launches);
}

TEST(reg_eff_crowd, gets_blocks_also_if_lanes_often_hold_chunks_while_others_search) {
  expect_no_null(device::cpu({.workers = 2, .fuel = 4}), 4096, launches);
  expect_no_null(device::cpu({.workers = 2, .fuel = 64}), 8192, launches);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
