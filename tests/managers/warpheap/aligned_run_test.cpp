// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignments beyond a chunk: what is cut off from both ends of a run is free, and the rest is not.
#include "damage.hpp"

#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using small = warpheap_manager<warpheap_config{.smallest_chunk = 256, .largest_chunk = 256}>;
constexpr std::size_t alignment = 2048;
constexpr std::size_t bytes = 600;  // three chunks

TEST(warpheap_aligned_run, the_ends_of_a_longer_run_go_back) {
  const exposed_heap<small> subject(80 * 1024);
  const auto& heap = subject.heap();
  const std::size_t before = heap.stats().bytes_in_use;
  std::vector<std::byte*> blocks;
  // Until there is none: a chunk that is free and in use would be found by the inspection, and one
  // that is neither as well.
  for (;;) {
    void* block = nullptr;
    machine().launch({1, 1}, [&] { block = heap.ref().aligned_malloc(alignment, bytes); });
    expect_valid(heap);
    if (block == nullptr) break;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
    blocks.push_back(static_cast<std::byte*>(block));
    EXPECT_EQ(heap.stats().bytes_in_use - before, blocks.size() * 768);
  }
  EXPECT_GE(blocks.size(), 20u);
  // The gaps are free: each has five chunks of 256 bytes.
  EXPECT_EQ(test::take(heap, 1280, 8).size(), 8u);
  give(heap, blocks);
  expect_valid(heap);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
