// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What superblocks are used for, one after the other, as a single lane sees it.
#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/kma/kma.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace kma_lanes {

using manager = kma<>;

/// One lane fills the heap with blocks of a size.
struct fill {
  handle<manager> from;
  std::size_t bytes;
  void** blocks;
  std::uint64_t* count;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t taken = 0;
    while (void* block = from.malloc(bytes)) blocks[taken++] = block;
    *count = taken;
  }
};

/// One lane frees the blocks from `first` on, every `step`th.
struct free_some {
  handle<manager> to;
  void* const* blocks;
  std::uint64_t first;
  std::uint64_t step;
  std::uint64_t count;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = first; i < count; i += step) to.free(blocks[i]);
  }
};

}  // namespace kma_lanes

namespace {

class kma_superblock_use : public ::testing::Test {
 protected:
  static constexpr std::size_t bytes = std::size_t{1} << 20;

  std::vector<void*> fill(std::size_t size) {
    const device_array<void*> blocks(bytes / 16);
    const device_array<std::uint64_t> count(1);
    machine().launch({1, 1}, kma_lanes::fill{heap_.ref(), size, blocks.get(), count.get()});
    std::vector<void*> taken = blocks.read();
    taken.resize(count.read()[0]);
    EXPECT_TRUE(heap_.validate().ok()) << heap_.validate().describe();
    return taken;
  }
  void free(const std::vector<void*>& taken, std::uint64_t first, std::uint64_t step) {
    const device_array<void*> blocks(taken);
    machine().launch({1, 1},
                     kma_lanes::free_some{heap_.ref(), blocks.get(), first, step, taken.size()});
    EXPECT_TRUE(heap_.validate().ok()) << heap_.validate().describe();
  }
  std::uint64_t usable() const { return heap_.ref().manager().superblocks() - 1; }

  heap<kma_lanes::manager> heap_{machine(), bytes};
};

TEST_F(kma_superblock_use, any_class_fills_all_but_the_queues_one) {
  for (const std::size_t size : {16u, 4096u, 64u, 2048u, 16u}) {
    const auto all = fill(size);
    EXPECT_EQ(all.size(), usable() * (4096 / size)) << size;
    EXPECT_EQ(heap_.stats().bytes_in_use, usable() * 4096);
    free(all, 0, 1);
    EXPECT_EQ(heap_.stats().blocks_in_use, 0u);
  }
}

TEST_F(kma_superblock_use, a_superblock_has_as_many_blocks_as_fit) {
  const auto all = fill(64);
  for (std::size_t i = 0; i + 64 <= all.size(); i += 64) {
    const auto [low, high] = std::minmax_element(all.begin() + static_cast<std::ptrdiff_t>(i),
                                                 all.begin() + static_cast<std::ptrdiff_t>(i + 64));
    EXPECT_EQ(static_cast<std::byte*>(*high) - static_cast<std::byte*>(*low), 4096 - 64);
  }
}

TEST_F(kma_superblock_use, one_free_block_of_a_full_superblock_can_be_allocated) {
  const auto all = fill(64);
  free(all, 5, 64);
  EXPECT_EQ(fill(128).size(), 0u) << "no superblock is empty";
  auto again = fill(33);
  EXPECT_EQ(again.size(), usable());
  std::vector<void*> freed;
  for (std::size_t i = 5; i < all.size(); i += 64) freed.push_back(all[i]);
  std::sort(freed.begin(), freed.end());
  std::sort(again.begin(), again.end());
  EXPECT_EQ(again, freed);
}

TEST_F(kma_superblock_use, a_block_that_is_freed_twice_counts_once) {
  const auto all = fill(4096 / 2);
  const std::vector<void*> same{all[0], all[0]};
  free(same, 0, 1);
  EXPECT_EQ(heap_.stats().blocks_in_use, all.size() - 1);
  EXPECT_EQ(fill(2048).size(), 1u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
