// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "take_and_give.hpp"

#include "warpheap/managers/halloc/halloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Slabs of 4 KiB.
using small_slabs = halloc<halloc_config{.largest_slab = 4096, .smallest_slab = 4096, .slabs = 1}>;

class halloc_shortage : public heap_test<small_slabs> {
 protected:
  halloc_shortage() : heap_test<small_slabs>(32 * 1024) {}

  std::ptrdiff_t slab_of(const std::byte* block) const {
    return (block - heap_.ref().manager().first_slab()) / 4096;
  }
};

// What was freed has chunks of one kind, and the shortage is known for those of another.
TEST_F(halloc_shortage, ends_for_all_sizes_with_the_last_block_of_a_slab) {
  const block_list all = take_all(1024);
  ASSERT_GE(all.size(), 8u);
  ASSERT_TRUE(take(768, 1).empty());
  // The last slab that was opened is still the head of its size.
  const std::ptrdiff_t slab = slab_of(all.front());
  for (std::byte* const block : all) {
    if (slab_of(block) == slab) give({block});
  }
  EXPECT_EQ(take(768, 1).size(), 1u);
}

// A slab of 4 KiB has ten chunks of 384 bytes, of which blocks of four or eight chunks can use the
// first eight. A search for such a block also says what it leaves for shorter ones.
TEST_F(halloc_shortage, of_a_long_block_says_nothing_of_the_last_chunks_of_a_slab) {
  block_list all = take_all(384);
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size() % 10, 0u);
  const block_list last{all[9]};
  give(last);
  ASSERT_TRUE(take(3072, 1).empty());
  EXPECT_EQ(take(384, 1), last);
  give({all[0], all[2], all[8], all[9]});
  ASSERT_TRUE(take(1536, 1).empty());
  EXPECT_EQ(take(768, 1), block_list{all[8]});
}

// A slab with a small block in every eighth chunk looks sparse, and has no place for one of eight.
TEST(halloc_used_up_heads, are_replaced_a_few_times_and_then_all_slabs_are_searched) {
  using often_sparse =
      halloc<halloc_config{.largest_slab = 4096, .smallest_slab = 4096, .slabs = 1, .sparse = 200}>;
  const heap<often_sparse> heap(machine(), 32 * 1024);
  const std::byte* const first = heap.ref().manager().first_slab();
  block_list freed = take_all(heap, 16, 32);
  ASSERT_GE(freed.size(), 5u * 256);
  std::sort(freed.begin(), freed.end());
  std::byte* const last_kept = freed[freed.size() - 8];
  freed.erase(std::remove_if(freed.begin(), freed.end(),
                             [&](const std::byte* block) { return (block - first) % 128 == 0; }),
              freed.end());
  give(heap, freed);
  EXPECT_EQ(take_one(heap, 128), nullptr);
  give(heap, {last_kept});
  EXPECT_EQ(take_one(heap, 128), last_kept);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
