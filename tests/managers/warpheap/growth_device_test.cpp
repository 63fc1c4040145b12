// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heaps that begin with a part of their region, and grow: what follows from the layout in chunks,
// and what messages say. The suite of growth (tests/conformance) has the rest. On either model.
#include "device_array.hpp"
#include "machine.hpp"
#include "take_and_give.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using growing_heap = heap<warpheap_manager<>>;

namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::size_t chunk = 16_KiB;
constexpr std::size_t half = 64 * chunk;

/// 64 chunks at first, and room for more than twice as many.
growing_heap half_a_heap() { return {machine(), 3_MiB, {.initial_bytes = half}}; }

/// Until a lane alone gets none.
block_list take_all(const growing_heap& from, std::size_t bytes) {
  return test::take_all(from, bytes, 1024);
}
void expect_apart(block_list blocks, std::size_t bytes) {
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    ASSERT_GE(blocks[i] - blocks[i - 1], static_cast<std::ptrdiff_t>(bytes));
  }
}

/// What chunks hold of a size.
std::size_t blocks_in(std::size_t chunks, std::size_t bytes) {
  return bytes > chunk / 2 ? chunks / ceil_div(bytes, chunk) : chunks * (chunk / bytes);
}

/// Each lane is a thread to ThreadSanitizer: with a sanitizer, fewer and larger blocks.
constexpr std::size_t least_bytes = WARPHEAP_TEST_SANITIZED ? 1024 : 16;

TEST(growth, every_size_fills_what_there_is_and_then_what_is_added) {
  for (const std::size_t bytes : {16u, 48u, 256u, 1024u, 3264u, 8192u, 16384u, 65536u}) {
    if (bytes < least_bytes) continue;
    growing_heap heap = half_a_heap();
    auto all = take_all(heap, bytes);
    EXPECT_EQ(all.size(), blocks_in(64, bytes)) << bytes;
    heap.grow(half);
    EXPECT_EQ(heap.stats().blocks_in_use, all.size());
    const auto more = take_all(heap, bytes);
    EXPECT_EQ(more.size(), blocks_in(64, bytes)) << bytes;
    all.insert(all.end(), more.begin(), more.end());
    expect_apart(all, bytes);
    EXPECT_EQ(heap.stats().blocks_in_use, all.size());
    expect_valid(heap);
    give(heap, all);
    expect_valid(heap);
    EXPECT_EQ(take_all(heap, bytes).size(), all.size()) << bytes;
  }
}

TEST(growth, memory_of_one_size_serves_others_once_it_is_free) {
  growing_heap heap = half_a_heap();
  const auto small = take_all(heap, least_bytes);
  heap.grow(half);
  const auto large = take_all(heap, 8192);
  EXPECT_EQ(large.size(), blocks_in(64, 8192));
  give(heap, small);
  give(heap, large);
  std::byte* const everything = take_one(heap, 2 * half);
  ASSERT_NE(everything, nullptr);
  give(heap, {everything});
  expect_valid(heap);
}

TEST(growth, a_block_may_lie_across_the_old_end) {
  growing_heap heap = half_a_heap();
  std::byte* const first = take_one(heap, half - chunk);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(take_one(heap, 2 * chunk), nullptr);
  heap.grow(chunk);
  EXPECT_EQ(take_one(heap, 2 * chunk), first + half - chunk);
  EXPECT_EQ(take_one(heap, chunk), nullptr);
  expect_valid(heap);
}

TEST(growth, what_cannot_be_added_is_refused_and_changes_nothing) {
  growing_heap heap = half_a_heap();
  const std::size_t left = heap.ref().largest_block() - half;
  EXPECT_THAT([&] { heap.grow(0); }, ThrowsMessage<invalid_argument>(HasSubstr("nothing to add")));
  EXPECT_THAT([&] { heap.grow(chunk + 16); },
              ThrowsMessage<invalid_argument>(HasSubstr("multiples of 16384")));
  for (const std::size_t too_much :
       {left + chunk, std::size_t{1} << 60, SIZE_MAX / chunk * chunk}) {
    EXPECT_THAT([&] { heap.grow(too_much); },
                ThrowsMessage<invalid_argument>(
                    HasSubstr(std::to_string(left) + " bytes of its region are left")));
  }
  EXPECT_EQ(heap.largest_block(), half);
  heap.grow(left);
  EXPECT_EQ(heap.largest_block(), half + left);
  EXPECT_EQ(take_all(heap, chunk).size(), (half + left) / chunk);
  EXPECT_THAT([&] { heap.grow(chunk); },
              ThrowsMessage<invalid_argument>(HasSubstr("0 bytes of its region are left")));
}

TEST(growth, a_heap_cannot_begin_with_what_its_region_does_not_hold) {
  EXPECT_THAT([] { growing_heap(machine(), 3_MiB, {.initial_bytes = chunk + 16}); },
              ThrowsMessage<invalid_argument>(HasSubstr("chunks have 16384")));
  EXPECT_THROW(growing_heap(machine(), 3_MiB, {.initial_bytes = 3_MiB}), region_too_small);
  const std::size_t all = growing_heap(machine(), 3_MiB).largest_block();
  EXPECT_EQ(growing_heap(machine(), 3_MiB, {.initial_bytes = all}).largest_block(), all);
  EXPECT_THROW(growing_heap(machine(), 3_MiB, {.initial_bytes = all + chunk}), region_too_small);
}

TEST(growth, what_was_added_outlives_a_reset) {
  growing_heap heap = half_a_heap();
  take_all(heap, least_bytes);
  heap.grow(3 * chunk);
  take_all(heap, 48);
  heap.reset();
  expect_valid(heap);
  EXPECT_EQ(heap.stats().blocks_in_use, 0u);
  EXPECT_EQ(heap.largest_block(), half + 3 * chunk);
  EXPECT_EQ(take_all(heap, 256).size(), blocks_in(67, 256));
  heap.reset();
  heap.grow(chunk);
  EXPECT_EQ(take_all(heap, 8192).size(), blocks_in(68, 8192));
  expect_valid(heap);
}

TEST(growth, the_report_says_what_a_heap_never_serves) {
  growing_heap heap = half_a_heap();
  const std::size_t whole = heap.ref().largest_block();
  EXPECT_EQ(take_one(heap, whole + 1), nullptr);
  EXPECT_THAT(heap.report(),
              HasSubstr("never serves: its largest block has " + std::to_string(whole) + " bytes"));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
