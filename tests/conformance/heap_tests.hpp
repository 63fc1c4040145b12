// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

#include "warpheap/core/error.hpp"

#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

CONFORMANCE_TEST(conformance, a_new_heap_is_empty_and_valid) {
  const auto heap = this->make_heap(256);
  this->expect_valid(*heap);
  const heap_stats stats = heap->stats();
  EXPECT_EQ(stats.blocks_in_use, 0u);
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.heap_bytes, this->usual_heap_bytes());
  if (TypeParam::about.uses_region) {
    EXPECT_EQ(stats.failures, 0u);
  }
}

CONFORMANCE_TEST(conformance, a_reset_frees_everything) {
  WARPHEAP_REQUIRE_BLOCKS_APART();
  WARPHEAP_REQUIRE(TypeParam::about.resets, "a reset that frees everything");
  const std::uint64_t bytes = this->fill_bytes();
  const auto heap = this->make_fill_heap();
  const auto first = this->take_all(*heap, bytes).blocks.size();
  EXPECT_GT(heap->stats().failures, 0u);
  for (int round = 0; round < 2; ++round) {
    heap->reset();
    this->expect_valid(*heap);
    EXPECT_EQ(heap->stats().blocks_in_use, 0u);
    EXPECT_EQ(heap->stats().failures, 0u);
    const holding again = this->take_all(*heap, bytes);
    EXPECT_EQ(again.blocks.size(), first);
    expect_disjoint(again, TypeParam::about.alignment);
  }
}

CONFORMANCE_TEST(conformance, two_heaps_do_not_meet) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "a region of its own for each heap");
  const std::uint64_t bytes = served<TypeParam>(256);
  const auto one = this->make_heap(bytes);
  const auto other = this->make_heap(bytes);
  const auto sizes = this->requests(1000, bytes);
  const holding of_one = this->take(*one, sizes);
  const holding of_other = this->take(*other, sizes);
  expect_disjoint(both(of_one, of_other), TypeParam::about.alignment);
  this->give(*one, of_one);
  this->expect_empty(*one);
  this->expect_in_use(*other, sizes.size());
  this->give(*other, of_other);
  this->expect_empty(*other);
}

CONFORMANCE_TEST(conformance, a_heap_of_any_size_works_or_is_refused_with_the_size_that_does) {
  WARPHEAP_REQUIRE_BLOCKS_APART();
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "blocks out of the heap's region");
  std::uint64_t refused = 0;
  for (std::size_t power = 1; power <= scale::current().odd_heap_bytes; power *= 4) {
    for (const std::size_t bytes : {power, power + 1, power * 3 - 1}) {
      SCOPED_TRACE("a heap of " + std::to_string(bytes) + " bytes");
      try {
        const auto heap = this->make_heap(64, bytes);
        this->expect_valid(*heap);
        const holding all = this->take_all(*heap, 64);
        EXPECT_LE(all.blocks.size() * 64, bytes);
        expect_disjoint(all, TypeParam::about.alignment);
        this->expect_valid(*heap);
        this->give(*heap, all);
        this->expect_empty(*heap);
      } catch (const region_too_small& refusal) {
        ++refused;
        const std::size_t enough = refusal.enough();
        ASSERT_GT(enough, bytes) << refusal.what();
        EXPECT_EQ(refusal.what(), "a heap of " + std::to_string(bytes) +
                                      " bytes is too small for " + TypeParam::about.name +
                                      ", which needs at least " + std::to_string(enough));
        EXPECT_NO_THROW(this->make_heap(64, enough)) << refusal.what();
        EXPECT_THROW(this->make_heap(64, enough - 1), invalid_argument) << refusal.what();
      }
    }
  }
  EXPECT_GT(refused, 0u) << "a heap of one byte was made";
}

CONFORMANCE_TEST(conformance, a_heap_that_was_moved_from_says_so) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "as many heaps as one likes");
  const auto first = this->make_heap(64);
  auto second = std::move(*first);
  this->expect_empty(second);
  EXPECT_THROW(first->ref(), invalid_argument);
  EXPECT_THROW(first->reset(), invalid_argument);
  EXPECT_THROW(first->stats(), invalid_argument);
  EXPECT_THROW(first->validate(), invalid_argument);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
