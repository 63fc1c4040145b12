// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

#include <algorithm>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Sizes around every boundary that a manager may have.
inline constexpr std::uint64_t sizes_to_try[]{1,    2,    15,   16,   17,   31,  48,  64,
                                              100,  127,  128,  129,  256,  257, 512, 1000,
                                              1024, 2048, 2049, 4096, 5000, 8192};

CONFORMANCE_TEST(conformance, blocks_are_aligned_disjoint_and_keep_their_contents) {
  for (const std::uint64_t bytes : sizes_to_try) {
    SCOPED_TRACE("blocks of " + std::to_string(bytes) + " bytes");
    if (bytes > served<TypeParam>(bytes)) continue;
    const auto heap = this->make_heap(bytes);
    const holding held = this->take(*heap, this->requests(scale::current().threads / 4, bytes));
    this->expect_served_and_freed(*heap, held);
  }
}

CONFORMANCE_TEST(conformance, all_threads_at_once_get_blocks) {
  const std::uint64_t bytes = served<TypeParam>(64);
  const auto heap = this->make_heap(bytes);
  const holding held = this->take(*heap, this->requests(scale::current().threads, bytes));
  this->expect_served_and_freed(*heap, held);
}

CONFORMANCE_TEST(conformance, sizes_may_differ_from_lane_to_lane) {
  for (const std::uint32_t wanted : {64u, 1024u, 8192u}) {
    const auto most = static_cast<std::uint32_t>(served<TypeParam>(wanted));
    const auto heap = this->make_heap(most);
    const holding held =
        this->take(*heap, this->mixed_requests(scale::current().threads / 2, most));
    this->expect_served_and_freed(*heap, held);
  }
}

CONFORMANCE_TEST(conformance, a_request_of_nothing_returns_null_and_is_not_a_failure) {
  const auto heap = this->make_heap(256);
  const auto failures = heap->stats().failures;
  const auto impossible = heap->stats().impossible;
  const holding held = this->take(*heap, std::vector<std::uint64_t>(300, 0));
  EXPECT_EQ(this->nulls(held), 300u);
  EXPECT_EQ(heap->stats().failures, failures);
  EXPECT_EQ(heap->stats().impossible, impossible);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, impossible_requests_return_null_and_change_nothing) {
  const auto heap = this->make_heap(256);
  const holding kept = this->take(*heap, this->requests(100, 256));
  std::vector<std::uint64_t> impossible{
      SIZE_MAX,         SIZE_MAX - 1,       SIZE_MAX - 15,     SIZE_MAX - 127,
      SIZE_MAX / 2 + 1, SIZE_MAX / 2,       heap->bytes() + 1, heap->bytes() * 2,
      1ull << 32,       (1ull << 32) + 256, 1ull << 40,        heap->largest_block() + 1};
  std::erase_if(impossible, [&](std::uint64_t bytes) { return bytes <= heap->largest_block(); });
  const std::uint64_t failures = heap->stats().failures;
  std::uint64_t refused = heap->stats().impossible;
  for (const std::uint64_t bytes : impossible) {
    // All lanes of some warps, and the odd ones of others together with requests of nothing.
    std::vector<std::uint64_t> sizes(96, bytes);
    for (std::size_t i = 64; i < sizes.size(); i += 2) sizes[i] = 0;
    const holding held = this->take(*heap, sizes);
    EXPECT_EQ(this->nulls(held), sizes.size()) << bytes << " bytes";
    refused += 80;
    const heap_stats stats = heap->stats();
    EXPECT_EQ(stats.impossible, refused) << bytes << " bytes";
    EXPECT_EQ(stats.last_impossible_bytes, bytes);
    EXPECT_EQ(stats.failures, failures) << "memory was not out";
    this->expect_in_use(*heap, kept.blocks.size());
  }
  this->expect_valid(*heap);
  const holding more = this->take(*heap, this->requests(1000, 256));
  EXPECT_EQ(this->nulls(more), 0u) << "served less after impossible requests";
  this->give(*heap, more);
  this->give(*heap, kept);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, the_largest_block_is_served_and_nothing_larger) {
  WARPHEAP_REQUIRE(TypeParam::about.uses_region, "blocks out of the heap's region");
  // A single lane writes all of it.
  for (const std::size_t mib :
       small_run ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 16}) {
    const std::size_t wanted = mib << 20;
    const auto heap =
        this->make_heap(256, std::max(wanted, manager_traits<TypeParam>::least_heap_bytes));
    const std::size_t largest = heap->largest_block();
    SCOPED_TRACE("a heap of " + std::to_string(heap->bytes()) + " bytes, whose largest block has " +
                 std::to_string(largest));
    ASSERT_GE(largest, served<TypeParam>(256));
    ASSERT_LE(largest, heap->bytes());
    if (TypeParam::about.largest_block != 0) {
      EXPECT_LE(largest, TypeParam::about.largest_block);
    }
    const holding one = this->take(*heap, {largest});
    EXPECT_EQ(this->nulls(one), 0u) << "the heap is empty";
    EXPECT_EQ(heap->stats().impossible, 0u);
    this->give(*heap, one);
    EXPECT_EQ(this->nulls(this->take(*heap, {largest + 1})), 1u);
    EXPECT_EQ(heap->stats().impossible, 1u);
    this->expect_empty(*heap);
  }
}

CONFORMANCE_TEST(conformance, zeroed_blocks_are_zero) {
  const std::uint64_t bytes = served<TypeParam>(250);
  const auto heap = this->make_heap(bytes);
  const auto sizes = this->requests(1000, bytes);
  this->give(*heap, this->take(*heap, sizes));  // leaves its stamps in memory
  const device_array<std::uint64_t> wanted(sizes);
  const device_array<void*> blocks(sizes.size());
  const device_array<tally> found(1);
  machine().launch(covering(sizes.size()),
                   allocate_zeroed<handle<TypeParam>>{heap->ref(), wanted.get(), blocks.get(),
                                                      sizes.size(), found.get()});
  const holding held{sizes, blocks.read()};
  EXPECT_EQ(found.read()[0].corrupted, 0u);
  EXPECT_EQ(this->nulls(held), 0u);
  this->give(*heap, held);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, lanes_may_share_a_block) {
  const std::uint64_t bytes = served<TypeParam>(200);
  const auto heap = this->make_heap(bytes);
  const device_array<tally> found(1);
  machine().launch(covering(1000),
                   share_blocks<handle<TypeParam>>{heap->ref(), bytes, found.get()});
  EXPECT_EQ(found.read()[0].corrupted, 0u);
  EXPECT_EQ(found.read()[0].nulls, 0u);
  this->expect_empty(*heap);
}

CONFORMANCE_TEST(conformance, null_may_be_freed) {
  const auto heap = this->make_heap(256);
  this->give(*heap, {std::vector<std::uint64_t>(100, 1), std::vector<void*>(100, nullptr)});
  this->expect_empty(*heap);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
