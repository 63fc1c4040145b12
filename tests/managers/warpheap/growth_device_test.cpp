// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heaps that begin with a part of their region, and grow. On either model.
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

/// The first warp grows by single chunks, and takes blocks as the others do: each lane, until it
/// has as many as it wants.
struct take_while_it_grows {
  handle<warpheap_manager<>> heap;
  std::size_t bytes;
  std::uint32_t each;
  std::uint32_t growths;
  std::byte** blocks;
  std::uint32_t* refused;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < simt::warp_size) {
      for (std::uint32_t i = 0; i < growths; ++i) {
        const auto came = heap.grow(simt::warp(), heap.manager().growth_step());
        if (came != growth_outcome::grown) {
          simt::atomic_ref(*refused).fetch_add(1, simt::order::relaxed);
        }
      }
    }
    for (std::uint32_t i = 0; i < each; ++i) {
      // Ends: there will be enough for all, and the first warp does not wait before that.
      std::byte* block = static_cast<std::byte*>(heap.malloc(bytes));
      while (block == nullptr) {
        simt::backoff(1000);
        block = static_cast<std::byte*>(heap.malloc(bytes));
      }
      blocks[rank * each + i] = block;
    }
  }
};

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

TEST(growth, in_steps_until_the_region_is_used) {
  growing_heap heap = half_a_heap();
  const std::size_t whole = heap.ref().largest_block();
  std::size_t there = half;
  for (std::size_t step = 1; there < whole; step = step * 3 + 1) {
    const std::size_t more = std::min(step * chunk, whole - there);
    heap.grow(more);
    there += more;
    EXPECT_EQ(heap.largest_block(), there);
    std::byte* const all = take_one(heap, there);
    EXPECT_NE(all, nullptr) << there;
    EXPECT_EQ(take_one(heap, 16), nullptr);
    give(heap, {all});
    expect_valid(heap);
  }
  EXPECT_THAT([&] { heap.grow(chunk); },
              ThrowsMessage<invalid_argument>(HasSubstr("0 bytes of its region are left")));
}

TEST(growth, what_cannot_be_added_is_refused_and_changes_nothing) {
  growing_heap heap = half_a_heap();
  const std::size_t left = heap.ref().largest_block() - half;
  EXPECT_THAT([&] { heap.grow(0); }, ThrowsMessage<invalid_argument>(HasSubstr("is nothing")));
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

TEST(growth, the_host_counts_what_is_memory) {
  growing_heap heap = half_a_heap();
  const std::size_t whole = heap.ref().largest_block();
  EXPECT_GT(whole, 2 * half);
  EXPECT_EQ(heap.largest_block(), half);
  EXPECT_EQ(heap.stats().largest_block, half);
  EXPECT_EQ(heap.stats().heap_bytes, 3_MiB - (whole - half));
  take_all(heap, chunk);
  EXPECT_EQ(take_one(heap, half + chunk), nullptr);
  EXPECT_GE(heap.stats().failures, 1u) << "it may be served one day";
  EXPECT_EQ(take_one(heap, whole + 1), nullptr);
  EXPECT_EQ(heap.stats().impossible, 1u);
  EXPECT_THAT(heap.report(), HasSubstr("the largest block of this heap, " + std::to_string(whole) +
                                       " bytes, which it never serves"));
  heap.grow(half);
  EXPECT_EQ(heap.stats().largest_block, 2 * half);
  EXPECT_EQ(heap.stats().heap_bytes, 3_MiB - (whole - 2 * half));
}

TEST(growth, lanes_that_wait_for_memory_get_what_a_warp_of_their_kernel_adds) {
  constexpr std::uint32_t lanes = race_checked ? 128 : 1024;
  for (const std::size_t bytes : {16u, 256u, 1024u}) {
    // Classes may take chunks that others need, so there are some to spare.
    growing_heap heap(machine(), 8_MiB, {.initial_bytes = chunk});
    constexpr std::uint32_t each = 4;
    const auto growths = static_cast<std::uint32_t>(lanes * each * bytes / chunk + 64);
    const device_array<std::byte*> blocks(lanes * each);
    const device_array<std::uint32_t> refused(1);
    machine().launch(covering(lanes), take_while_it_grows{heap.ref(), bytes, each, growths,
                                                          blocks.get(), refused.get()});
    EXPECT_EQ(refused.read()[0], 0u);
    const block_list all = blocks.read();
    expect_apart(all, bytes);
    EXPECT_EQ(heap.stats().blocks_in_use, all.size());
    EXPECT_EQ(heap.largest_block(), (growths + 1) * chunk);
    expect_valid(heap);
    give(heap, all);
    std::byte* const everything = take_one(heap, (growths + 1) * chunk);
    EXPECT_NE(everything, nullptr);
    expect_valid(heap);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
