// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which slabs requests are served from, one after the other.
#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/halloc/halloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using sizes = halloc_parts::geometry<halloc_config{}>;

/// A single lane asks again and again.
struct take_in_a_row {
  handle<halloc<>> from;
  std::uint64_t bytes;
  std::uint64_t count;
  void** blocks;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = 0; i < count; ++i) blocks[i] = from.malloc(bytes);
  }
};

struct give_in_a_row {
  handle<halloc<>> to;
  std::uint64_t count;
  void* const* blocks;
  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t i = 0; i < count; ++i) to.free(blocks[i]);
  }
};

struct ask_for_bytes {
  handle<halloc<>> of;
  void* block;
  std::size_t* bytes;
  WARPHEAP_DEVICE void operator()() const { *bytes = of.usable_size(block); }
};

class halloc_heads : public ::testing::Test {
 protected:
  using blocks = std::vector<void*>;

  /// Slabs of 256 KiB. A slab has 256 blocks of 1 KiB, 1024 chunks; with 214 such blocks it is
  /// full, and a head is replaced.
  static constexpr std::uint64_t kib = 1024;
  static constexpr std::size_t per_slab = 256;
  static constexpr std::size_t until_full = 214;

  blocks take(std::uint64_t bytes, std::uint64_t count) {
    const device_array<void*> got(count);
    machine().launch({1, 1}, take_in_a_row{heap_.ref(), bytes, count, got.get()});
    expect_valid();
    return got.read();
  }
  void give(const blocks& which) {
    const device_array<void*> all(which);
    machine().launch({1, 1}, give_in_a_row{heap_.ref(), which.size(), all.get()});
    expect_valid();
  }

  std::uint32_t slab_of(void* block) const {
    const auto heap = heap_.ref();
    const auto& manager = heap.manager();
    return static_cast<std::uint32_t>((static_cast<std::byte*>(block) - manager.first_slab()) >>
                                      manager.shape().slab_shift());
  }
  std::vector<std::uint32_t> slabs_of(const blocks& which) const {
    std::vector<std::uint32_t> slabs;
    for (void* block : which) slabs.push_back(slab_of(block));
    return slabs;
  }
  std::size_t slabs() const { return heap_.ref().manager().shape().slabs(); }
  static std::size_t nulls(const blocks& which) {
    return static_cast<std::size_t>(std::count(which.begin(), which.end(), nullptr));
  }

  void expect_valid() {
    const validation found = heap_.validate();
    ASSERT_TRUE(found.ok()) << found.describe();
  }

  heap<halloc<>> heap_{machine(), 2_MiB};
};

TEST_F(halloc_heads, a_head_is_replaced_when_it_becomes_full) {
  const auto slabs = slabs_of(take(kib, until_full + 1));
  EXPECT_EQ(std::count(slabs.begin(), slabs.end(), slabs[0]), until_full);
  EXPECT_NE(slabs.back(), slabs[0]);
}

TEST_F(halloc_heads, a_slab_with_room_becomes_the_head_before_a_free_one) {
  const auto first = take(kib, until_full);
  const auto second = take(kib, 1);
  ASSERT_NE(slab_of(second[0]), slab_of(first[0]));
  give({first.begin(), first.begin() + 107});  // 428 of 1024 chunks are left
  const auto more = slabs_of(take(kib, until_full));
  EXPECT_EQ(more.front(), slab_of(second[0]));
  EXPECT_EQ(more.back(), slab_of(first[0]));
}

TEST_F(halloc_heads, a_busy_slab_becomes_the_head_when_there_is_no_other) {
  const auto first = take(kib, until_full);
  const auto second = take(kib, 1);
  give({first.begin(), first.begin() + 54});  // 640 of 1024 chunks are left
  const auto third = take(kib, until_full);
  EXPECT_NE(slab_of(third.back()), slab_of(first[0]));
  take(kib, until_full * (slabs() - 2) - 1);  // of the free ones and of the third, which is full
  const auto last = take(kib, 1);
  EXPECT_EQ(slab_of(last[0]), slab_of(first[0]));
}

TEST_F(halloc_heads, all_slabs_are_searched_when_all_are_full) {
  const auto served = take(kib, per_slab * slabs());
  EXPECT_EQ(nulls(served), 0u);
  EXPECT_EQ(heap_.stats().blocks_in_use, per_slab * slabs());
  EXPECT_EQ(nulls(take(kib, 3)), 3u);
  give({served[1000]});
  EXPECT_EQ(take(kib, 1)[0], served[1000]);
}

TEST_F(halloc_heads, a_sparse_slab_changes_its_size_but_not_its_chunks) {
  const auto served = take(kib, per_slab * slabs());
  std::vector<bool> kept(slabs());
  blocks given;
  for (void* block : served) {
    if (kept[slab_of(block)]) given.push_back(block);
    kept[slab_of(block)] = true;
  }
  give(given);
  EXPECT_EQ(nulls(take(512, 10)), 0u);
  EXPECT_EQ(nulls(take(256, 10)), 0u);
  EXPECT_EQ(nulls(take(16, 10)), 10u);
  EXPECT_EQ(nulls(take(768, 10)), 10u);
}

TEST_F(halloc_heads, each_size_fills_the_heap_after_each_other_one) {
  const auto fill = [this](std::uint32_t size) {
    const auto shape = heap_.ref().manager().shape();
    const std::uint64_t all = std::uint64_t{shape.blocks(size)} * shape.slabs();
    const blocks served = take(shape.block_bytes(size), all);
    EXPECT_EQ(nulls(served), 0u) << "of " << shape.block_bytes(size) << " bytes";
    give(served);
    EXPECT_EQ(heap_.stats().blocks_in_use, 0u);
  };
  for (const std::uint32_t size : {15u, 6u, 8u, 7u, 14u, 9u, 15u}) fill(size);
}

TEST_F(halloc_heads, heads_of_other_sizes_that_are_empty_are_taken) {
  // Each size makes a slab its head, so far as there are slabs.
  blocks one_of_each;
  for (const std::uint64_t bytes : {16, 32, 48, 64, 96, 128, 192, 256}) {
    const blocks one = take(bytes, 1);
    if (one[0] != nullptr) one_of_each.push_back(one[0]);
  }
  give(one_of_each);
  EXPECT_EQ(nulls(take(3 * kib, 85 * slabs())), 0u);
}

TEST_F(halloc_heads, blocks_have_the_bytes_of_their_size) {
  for (const std::size_t bytes : {1, 16, 17, 48, 49, 1000, 2049, 3072}) {
    const device_array<std::size_t> usable(1);
    machine().launch({1, 1}, ask_for_bytes{heap_.ref(), take(bytes, 1)[0], usable.get()});
    EXPECT_EQ(usable.read()[0], sizes::block_bytes(sizes::size_for(bytes)));
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
