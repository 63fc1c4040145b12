// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "subjects.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Sizes around every boundary that a manager may have.
inline constexpr std::uint64_t sizes_to_try[]{1,    2,    15,   16,   17,   31,  48,  64,
                                              100,  127,  128,  129,  256,  257, 512, 1000,
                                              1024, 2048, 2049, 4096, 5000, 8192};

TYPED_TEST(conformance, blocks_are_aligned_disjoint_and_keep_their_contents) {
  for (const std::uint64_t bytes : sizes_to_try) {
    SCOPED_TRACE("blocks of " + std::to_string(bytes) + " bytes");
    if (bytes > served<TypeParam>(bytes)) continue;
    const auto heap = this->make_heap(bytes);
    const holding held = this->take(*heap, this->requests(scale::current().threads / 4, bytes));
    EXPECT_EQ(this->nulls(held), 0u) << "three quarters of the heap are free";
    expect_disjoint(held, TypeParam::about.alignment);
    this->expect_valid(*heap);
    this->expect_in_use(*heap, held.blocks.size());
    this->give(*heap, held);
    this->expect_empty(*heap);
  }
}

TYPED_TEST(conformance, all_threads_at_once_get_blocks) {
  const std::uint64_t bytes = served<TypeParam>(64);
  const auto heap = this->make_heap(bytes);
  const holding held = this->take(*heap, this->requests(scale::current().threads, bytes));
  EXPECT_EQ(this->nulls(held), 0u) << "three quarters of the heap are free";
  expect_disjoint(held, TypeParam::about.alignment);
  this->give(*heap, held);
  this->expect_empty(*heap);
}

TYPED_TEST(conformance, sizes_may_differ_from_lane_to_lane) {
  for (const std::uint32_t wanted : {64u, 1024u, 8192u}) {
    const auto most = static_cast<std::uint32_t>(served<TypeParam>(wanted));
    const auto heap = this->make_heap(most);
    const holding held =
        this->take(*heap, this->mixed_requests(scale::current().threads / 2, most));
    EXPECT_EQ(this->nulls(held), 0u) << "three quarters of the heap are free";
    expect_disjoint(held, TypeParam::about.alignment);
    this->expect_valid(*heap);
    this->expect_in_use(*heap, held.blocks.size());
    this->give(*heap, held);
    this->expect_empty(*heap);
  }
}

TYPED_TEST(conformance, a_request_of_nothing_gives_null_and_is_no_failure) {
  const auto heap = this->make_heap(256);
  const auto failures = heap->stats().failures;
  const holding held = this->take(*heap, std::vector<std::uint64_t>(300, 0));
  EXPECT_EQ(this->nulls(held), 300u);
  EXPECT_EQ(heap->stats().failures, failures);
  this->expect_empty(*heap);
}

TYPED_TEST(conformance, impossible_requests_give_null_and_change_nothing) {
  const auto heap = this->make_heap(256);
  const holding kept = this->take(*heap, this->requests(100, 256));
  std::vector<std::uint64_t> impossible{SIZE_MAX,           SIZE_MAX - 1,      SIZE_MAX - 15,
                                        SIZE_MAX - 127,     SIZE_MAX / 2 + 1,  SIZE_MAX / 2,
                                        heap->bytes() + 1,  heap->bytes() * 2, 1ull << 32,
                                        (1ull << 32) + 256, 1ull << 40};
  if (TypeParam::about.largest_block != 0) impossible.push_back(TypeParam::about.largest_block + 1);
  if (!this->any_size) impossible.push_back(257);  // a page and a byte
  std::erase_if(impossible, [&](std::uint64_t bytes) {
    return bytes <= heap->bytes() && this->any_size && TypeParam::about.largest_block == 0;
  });
  std::uint64_t failures = heap->stats().failures;
  for (const std::uint64_t bytes : impossible) {
    // All lanes of some warps, and the odd ones of others together with requests of nothing.
    std::vector<std::uint64_t> sizes(96, bytes);
    for (std::size_t i = 64; i < sizes.size(); i += 2) sizes[i] = 0;
    const holding held = this->take(*heap, sizes);
    EXPECT_EQ(this->nulls(held), sizes.size()) << bytes << " bytes";
    failures += 80;
    const heap_stats stats = heap->stats();
    EXPECT_EQ(stats.failures, failures) << bytes << " bytes";
    EXPECT_EQ(stats.last_failed_bytes, bytes);
    this->expect_in_use(*heap, kept.blocks.size());
  }
  this->expect_valid(*heap);
  const holding more = this->take(*heap, this->requests(1000, 256));
  EXPECT_EQ(this->nulls(more), 0u) << "served less after impossible requests";
  this->give(*heap, more);
  this->give(*heap, kept);
  this->expect_empty(*heap);
}

TYPED_TEST(conformance, null_may_be_freed) {
  const auto heap = this->make_heap(256);
  this->give(*heap, {std::vector<std::uint64_t>(100, 1), std::vector<void*>(100, nullptr)});
  this->expect_empty(*heap);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
