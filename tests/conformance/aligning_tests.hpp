// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The suite of managers that align blocks as callers wish.
struct aligning {
  template <class M>
  static constexpr bool models = aligns_blocks<M>;
  template <class M>
  using fixture = block_fixture<M>;
};

/// A request of each lane, at an alignment of its own.
template <class Handle>
struct take_aligned {
  Handle from;
  const std::uint64_t* alignments;
  void** blocks;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t lane = simt::thread_rank();
    blocks[lane] = from.aligned_malloc(alignments[lane], 16);
  }
};

/// A handle of a heap, all of whose blocks are aligned.
template <class Handle>
struct aligned_handle {
  Handle heap;
  std::uint64_t alignment;

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    return heap.aligned_malloc(alignment, bytes);
  }
};

CONFORMANCE_TEST(aligning, blocks_are_aligned_as_asked_for) {
  for (std::uint64_t alignment = 1; alignment <= 4096; alignment *= 4) {
    SCOPED_TRACE("alignment " + std::to_string(alignment));
    const auto heap = this->make_heap(5000);
    const auto sizes = this->mixed_requests(512, 2000);
    const device_array<std::uint64_t> bytes(sizes);
    const device_array<void*> blocks(sizes.size());
    machine().launch(covering(sizes.size()),
                     allocate<aligned_handle<handle<TypeParam>>>{
                         {heap->ref(), alignment}, bytes.get(), blocks.get(), sizes.size()});
    const holding held{sizes, blocks.read()};
    EXPECT_EQ(this->nulls(held), 0u);
    expect_disjoint(held, std::max<std::uint64_t>(alignment, TypeParam::about.alignment));
    this->expect_in_use(*heap, held.blocks.size());
    this->give(*heap, held);
    this->expect_empty(*heap);
  }
}

CONFORMANCE_TEST(aligning, impossible_requests_are_refused_at_any_alignment) {
  const auto heap = this->make_heap(256);
  const std::vector<std::uint64_t> sizes{heap->largest_block() + 1, SIZE_MAX, 0};
  const device_array<std::uint64_t> bytes(sizes);
  const device_array<void*> blocks(sizes.size());
  machine().launch({1, 3}, allocate<aligned_handle<handle<TypeParam>>>{
                               {heap->ref(), 64}, bytes.get(), blocks.get(), sizes.size()});
  EXPECT_EQ(this->nulls({sizes, blocks.read()}), 3u);
  EXPECT_EQ(heap->stats().impossible, 2u);
  EXPECT_EQ(heap->stats().failures, 0u);
}

CONFORMANCE_TEST(aligning, an_alignment_that_is_not_a_power_of_two_is_refused) {
  const auto heap = this->make_heap(256);
  const std::vector<std::uint64_t> alignments{0, 3, 48, 4097, SIZE_MAX};
  const device_array<std::uint64_t> asked(alignments);
  const device_array<void*> blocks(alignments.size());
  machine().launch({1, 5}, take_aligned<handle<TypeParam>>{heap->ref(), asked.get(), blocks.get()});
  EXPECT_EQ(this->nulls({{}, blocks.read()}), 5u);
  EXPECT_EQ(heap->stats().impossible, 5u);
  EXPECT_EQ(heap->stats().failures, 0u);
  this->expect_empty(*heap);
}

// No address is a multiple of 2^63 but 0 and one that no machine has.
CONFORMANCE_TEST(aligning, an_alignment_that_never_fits_is_not_taken_for_exhaustion) {
  if (!limits_alignment<TypeParam>) GTEST_SKIP() << "this manager does not tell";
  const auto heap = this->make_heap(256);
  const device_array<std::uint64_t> asked(1, std::uint64_t{1} << 63);
  const device_array<void*> blocks(1);
  machine().launch({1, 1}, take_aligned<handle<TypeParam>>{heap->ref(), asked.get(), blocks.get()});
  EXPECT_EQ(this->nulls({{}, blocks.read()}), 1u);
  EXPECT_EQ(heap->stats().impossible, 1u);
  EXPECT_EQ(heap->stats().last_impossible_bytes, 16u);
  EXPECT_EQ(heap->stats().failures, 0u);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
