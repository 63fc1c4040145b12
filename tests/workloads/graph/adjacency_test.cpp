// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/warpheap.hpp"
#include "warpheap/workloads/graph/block_adjacency.hpp"
#include "warpheap/workloads/graph/paged_adjacency.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class Adjacency>
void expect_deleted_targets_are_gone(Adjacency subject) {
  const heap<rw_malloc<>> memory(machine(), 1_MiB);
  machine().launch({1, 1}, [&, ref = memory.ref()] {
    const std::uint32_t targets[]{10, 20, 30};
    EXPECT_EQ(subject.insert(ref, simt::warp(), targets, 3), 3u);
    for (const std::uint32_t target : targets) EXPECT_TRUE(subject.contains(target));
    EXPECT_EQ(subject.erase(ref, simt::warp(), targets + 2, 1), 1u);
    EXPECT_TRUE(subject.contains(20));
    EXPECT_FALSE(subject.contains(30)) << "behind the last one";
    subject.clear(ref);
  });
  EXPECT_EQ(memory.stats().blocks_in_use, 0u);
}

TEST(block_adjacency, deleted_targets_are_gone) {
  expect_deleted_targets_are_gone(graph::block_adjacency(64));
}
TEST(block_adjacency, its_block_shrinks_as_soon_as_a_quarter_suffices) {
  const heap<rw_malloc<>> memory(machine(), 1_MiB);
  machine().launch({1, 1}, [&, ref = memory.ref()] {
    std::uint32_t targets[16];
    for (std::uint32_t i = 0; i < 16; ++i) targets[i] = i;
    graph::block_adjacency subject(0);
    EXPECT_EQ(subject.insert(ref, simt::warp(), targets, 16), 16u);
    EXPECT_EQ(subject.erase(ref, simt::warp(), targets, 11), 11u);
    EXPECT_EQ(subject.block_bytes(), 64u);
    EXPECT_EQ(subject.erase(ref, simt::warp(), targets + 11, 1), 1u);
    EXPECT_EQ(subject.block_bytes(), 16u);
    EXPECT_TRUE(subject.contains(15));
    subject.clear(ref);
  });
}
TEST(block_adjacency, moves_only_if_its_block_has_no_room) {
  const heap<rw_malloc<>> memory(machine(), 64_KiB);
  machine().launch({1, 1}, [&, ref = memory.ref()] {
    const std::uint32_t targets[]{0, 1, 2, 3, 4};
    graph::block_adjacency subject(0);
    EXPECT_EQ(subject.insert(ref, simt::warp(), targets, 3), 3u);
    std::vector<void*> rest;  // so that there is no block to move to
    while (void* const block = ref.malloc(16)) rest.push_back(block);
    EXPECT_EQ(subject.insert(ref, simt::warp(), targets + 3, 1), 1u);
    EXPECT_EQ(subject.insert(ref, simt::warp(), targets + 4, 1), 0u);
    for (void* const block : rest) ref.free(block);
    subject.clear(ref);
  });
  EXPECT_EQ(memory.stats().blocks_in_use, 0u);
}

TEST(paged_adjacency, deleted_targets_are_gone) {
  expect_deleted_targets_are_gone(graph::paged_adjacency(64));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
