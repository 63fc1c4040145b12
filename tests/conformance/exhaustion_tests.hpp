// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

CONFORMANCE_TEST(conformance, a_full_heap_returns_null_and_is_whole_again_once_it_is_emptied) {
  WARPHEAP_REQUIRE_BLOCKS_APART();
  const std::uint64_t bytes = this->fill_bytes();
  const auto heap = this->make_fill_heap();
  const auto failures = heap->stats().failures;
  const holding first = this->take_all(*heap, bytes);
  ASSERT_GT(first.blocks.size(), 0u);
  expect_disjoint(first, TypeParam::about.alignment);
  this->expect_valid(*heap);
  this->expect_in_use(*heap, first.blocks.size());
  const heap_stats full = heap->stats();
  EXPECT_GT(full.failures, failures) << "no failure was counted";
  EXPECT_EQ(full.last_failed_bytes, bytes);
  // Out it stays, and in bounded time, for many at once.
  const holding none = this->take(*heap, std::vector<std::uint64_t>(2000, bytes));
  EXPECT_EQ(this->nulls(none), 2000u);
  this->give(*heap, first);
  this->expect_empty(*heap);
  WARPHEAP_REQUIRE(manager_traits<TypeParam>::whole_when_emptied, "reuse of all freed blocks");
  const holding second = this->take_all(*heap, bytes);
  expect_disjoint(second, TypeParam::about.alignment);
  const auto least = static_cast<std::uint64_t>(manager_traits<TypeParam>::refill_share *
                                                static_cast<double>(first.blocks.size()));
  EXPECT_GE(second.blocks.size(), least) << "blocks were lost";
  if (manager_traits<TypeParam>::refill_share == 1.0 && TypeParam::about.uses_region) {
    EXPECT_EQ(second.blocks.size(), first.blocks.size());
  }
  this->give(*heap, second);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, a_heap_that_was_full_of_small_blocks_serves_large_ones) {
  WARPHEAP_REQUIRE(this->any_size, "blocks of more than one size");
  WARPHEAP_REQUIRE(manager_traits<TypeParam>::whole_when_emptied, "reuse of all freed blocks");
  const std::uint64_t small = this->fill_bytes();
  const auto heap = this->make_fill_heap();
  const std::uint64_t large = served<TypeParam>(heap->bytes() / 8);
  const holding all = this->take_all(*heap, small);
  EXPECT_EQ(this->nulls(this->take(*heap, {large})), 1u) << "the heap is full";
  this->give(*heap, all);
  const holding one = this->take(*heap, std::vector<std::uint64_t>(2, large));
  EXPECT_EQ(this->nulls(one), 0u) << "two blocks of " << large << " bytes in an empty heap";
  expect_disjoint(one, TypeParam::about.alignment);
  this->give(*heap, one);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, a_size_that_a_full_heap_refused_is_served_once_it_is_empty) {
  WARPHEAP_REQUIRE(this->any_size, "blocks of more than one size");
  WARPHEAP_REQUIRE(manager_traits<TypeParam>::whole_when_emptied, "reuse of all freed blocks");
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "heaps of its own");
  // So small that a manager has few of its largest pieces, or one.
  constexpr std::size_t few_pieces = std::size_t{384} << 10;
  const auto made_for = [&](std::size_t size) {
    constexpr std::size_t least = manager_traits<TypeParam>::least_heap_bytes;
    try {
      return this->make_heap(size, std::max(few_pieces, least));
    } catch (const invalid_argument&) {  // some managers have no room for their largest block then
      return this->make_heap(size, std::max(2 * few_pieces, least));
    }
  };
  constexpr std::size_t wanted[]{64, 512, 2048};
  const auto one_alone = [&](const auto& heap, std::size_t size) {
    const holding one = this->take(heap, {size});
    this->give(heap, one);
    return this->nulls(one) == 0;
  };
  int pairs = 0;
  for (const std::size_t filled : wanted) {
    for (const std::size_t refused : wanted) {
      const auto heap = made_for(refused);
      if (filled == refused || !one_alone(*heap, refused)) continue;
      ++pairs;
      const holding all = this->take_all(*heap, served<TypeParam>(filled));
      one_alone(*heap, refused);
      this->give(*heap, all);
      EXPECT_TRUE(one_alone(*heap, refused))
          << refused << " bytes, after a heap full of blocks of " << filled << " was emptied";
      this->expect_empty(*heap);
    }
  }
  EXPECT_GT(pairs, 0) << "a new heap served none of the sizes";
}

CONFORMANCE_TEST(conformance, every_second_block_can_be_freed_and_had_again) {
  WARPHEAP_REQUIRE(TypeParam::about.reuse == memory_reuse::all, "reuse of all freed blocks");
  const std::uint64_t bytes = this->fill_bytes();
  const auto heap = this->make_fill_heap();
  const holding all = this->take_all(*heap, bytes);
  holding kept = all;
  holding freed = all;
  std::uint64_t holes = 0;
  for (std::size_t i = 0; i < all.blocks.size(); ++i) {
    (i % 2 == 0 ? freed : kept).blocks[i] = nullptr;
    holes += i % 2;
  }
  this->give(*heap, freed);
  this->expect_valid(*heap);
  this->expect_in_use(*heap, all.blocks.size() - holes);
  const holding again = this->take_all(*heap, bytes);
  const auto least = static_cast<std::uint64_t>(manager_traits<TypeParam>::refill_share *
                                                static_cast<double>(holes));
  EXPECT_GE(again.blocks.size(), least) << "of " << holes << " blocks that were freed";
  expect_disjoint(both(kept, again), TypeParam::about.alignment);
  this->give(*heap, kept);
  this->give(*heap, again);
  this->expect_empty(*heap);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
