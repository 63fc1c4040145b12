// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The suite of managers that know how large a block is.
struct resizing {
  template <class M>
  static constexpr bool models = measures_blocks<M>;
  template <class M>
  using fixture = block_fixture<M>;
};

/// Every lane resizes a block from size to size, and uses all that it may of it.
template <class Handle>
struct resize_blocks {
  Handle heap;
  std::uint32_t most;
  std::uint32_t rounds;
  std::uint64_t seed;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    random_sequence random(mix64(seed) ^ mix64(simt::thread_rank() + 1));
    const std::uint64_t tag = random.next();
    void* block = nullptr;
    std::size_t before = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::size_t bytes = 1 + random.below(most);
      void* resized = heap.realloc(block, bytes);
      if (resized == nullptr) {
        tally::add(found->nulls);  // the old block stays
        continue;
      }
      block = resized;
      const std::size_t all = heap.usable_size(block);
      const std::size_t usable = all / 8 * 8;
      if (all < bytes) tally::add(found->misaligned);
      if (!is_stamped(block, before < usable ? before : usable, tag)) {
        tally::add(found->corrupted);
      }
      stamp(block, usable, tag);
      // The next call copies these as well.
      for (std::size_t i = usable; i < all; ++i) static_cast<unsigned char*>(block)[i] = 0;
      before = usable;
    }
    if (heap.realloc(block, 0) != nullptr) tally::add(found->misaligned);
  }
};

CONFORMANCE_TEST(resizing, contents_survive_when_blocks_are_resized) {
  for (const std::uint32_t wanted : {64u, 1000u, 5000u}) {
    const auto most = static_cast<std::uint32_t>(served<TypeParam>(wanted));
    const auto heap = this->make_heap(most);
    const auto threads = this->requests(scale::current().threads / 4, 4 * most).size();
    const device_array<tally> found(1);
    machine().launch(covering(threads), resize_blocks<handle<TypeParam>>{heap->ref(), most, 8,
                                                                         this->seed, found.get()});
    const tally seen = found.read()[0];
    EXPECT_EQ(seen.corrupted, 0u) << "blocks of up to " << most << " bytes";
    EXPECT_EQ(seen.misaligned, 0u) << "blocks are smaller than asked for";
    if (TypeParam::about.reuse == memory_reuse::all) {
      EXPECT_EQ(seen.nulls, 0u) << "there is room for all";
    }
    this->expect_empty(*heap);
  }
}

CONFORMANCE_TEST(resizing, a_block_that_cannot_grow_stays) {
  // Small: one lane reads and writes most of it again and again.
  const auto heap =
      this->make_heap(256, std::max<std::size_t>(std::size_t{small_run ? 1u : 16u} << 20,
                                                 manager_traits<TypeParam>::least_heap_bytes));
  const device_array<tally> found(1);
  // Mostly sizes beyond the largest block.
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(
      heap->largest_block() + heap->largest_block() / 2 + 1024, std::size_t{1} << 31));
  machine().launch(
      {1, 1}, resize_blocks<handle<TypeParam>>{heap->ref(), most, 40, this->seed, found.get()});
  const tally seen = found.read()[0];
  EXPECT_EQ(seen.corrupted, 0u);
  EXPECT_GT(heap->stats().impossible, 0u);
  EXPECT_GE(seen.nulls, heap->stats().impossible);
  this->expect_empty(*heap);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
