// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes that all want a part of the only free chunk, which one of them holds most of the time.
#include "machine.hpp"

#include "warpheap/core/units.hpp"
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

using one_chunk =
    reg_eff<reg_eff_config{.presplit_bytes = 0, .merges = false, .granule_bytes = 64}>;

TEST(reg_eff_one_chunk, who_loses_races_for_it_gets_a_part_in_the_end) {
  // A lane gives way after a few steps, so it often holds the chunk while the others search.
  const device often_switching = device::cpu({.workers = 2, .fuel = 4});
  constexpr std::uint64_t threads = sanitized ? 256 : 3072;
  const warpheap::heap<one_chunk> heap(often_switching, 4_MiB);
  std::vector<void*> blocks(threads);
  often_switching.launch(simt::grid::covering(threads),
                         [&, ref = heap.ref()] { blocks[simt::thread_rank()] = ref.malloc(100); });
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0) << "most of the heap is free";
  EXPECT_EQ(heap.stats().blocks_in_use, threads);
  EXPECT_TRUE(heap.validate().ok());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
