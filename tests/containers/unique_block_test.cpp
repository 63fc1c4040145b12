// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/containers/unique_block.hpp"

#include "fixture.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using block_of_words = unique_block<std::uint64_t, heap_ref>;

/// Each lane owns, moves and releases blocks, and notes what it saw: 0 if all was right.
struct own_blocks {
  heap_ref heap;
  std::uint32_t* wrong;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    std::uint32_t bad = 0;
    block_of_words first(heap, 2);
    bad += !first;
    if (first) {
      *first = me;
      first[1] = me + 1;
    }
    std::uint64_t* const address = first.get();
    block_of_words second(std::move(first));
    bad += static_cast<bool>(first) || second.get() != address;
    block_of_words third(heap, 1);
    third = std::move(second);  // frees what `third` had
    bad += static_cast<bool>(second) || third.get() != address;
    bad += third && (third[0] != me || *(third.get() + 1) != me + 1);
    std::uint64_t* const released = third.release();
    bad += static_cast<bool>(third) || released != address;
    heap.free(released);
    block_of_words none(heap);
    none.reset();
    bad += static_cast<bool>(none);
    wrong[me] = bad;
  }
};

/// A block of one heap takes over one of another heap, and frees that, too.
struct take_over {
  heap_ref first;
  heap_ref second;
  std::uint32_t* taken;
  WARPHEAP_DEVICE void operator()() const {
    block_of_words mine(first, 2);
    mine = block_of_words(second, 2);
    taken[0] = static_cast<bool>(mine);
  }
};

/// Requests that are never served give blocks that are false, and freeing those does nothing.
struct ask_for_too_much {
  heap_ref heap;
  std::uint32_t* served;
  WARPHEAP_DEVICE void operator()() const {
    const block_of_words larger_than_any(heap, heap.largest_block());
    const block_of_words overflowing(heap, (SIZE_MAX / sizeof(std::uint64_t)) + 3);
    const block_of_words empty(heap, 0);
    served[simt::thread_rank()] = static_cast<bool>(larger_than_any) +
                                  static_cast<bool>(overflowing) + static_cast<bool>(empty);
  }
};

/// Each lane keeps its block until all have asked, so that some get none.
struct ask_at_the_end {
  heap_ref heap;
  std::uint32_t* served;
  WARPHEAP_DEVICE void operator()() const {
    const unique_block<std::byte, heap_ref> mine(heap, 4096);
    simt::block_sync();
    served[simt::thread_rank()] = static_cast<bool>(mine);
  }
};

namespace {

std::uint32_t sum(const device_array<std::uint32_t>& counts) {
  std::uint32_t total = 0;
  for (const std::uint32_t count : counts.read()) total += count;
  return total;
}

TEST(unique_block, has_one_owner_and_is_freed_once) {
  const heap<> subject(machine(), 4_MiB);
  const device_array<std::uint32_t> wrong(512, 99);
  machine().launch({4, 128}, own_blocks{subject.ref(), wrong.get()});
  EXPECT_EQ(sum(wrong), 0u);
  expect_nothing_left(subject);
}

TEST(unique_block, frees_what_it_has_in_the_heap_that_it_is_from) {
  const heap<> first(machine(), 1_MiB);
  const heap<> second(machine(), 1_MiB);
  const device_array<std::uint32_t> taken(1, 99);
  machine().launch({1, 1}, take_over{first.ref(), second.ref(), taken.get()});
  EXPECT_EQ(sum(taken), 1u);
  expect_nothing_left(first);
  expect_nothing_left(second);
}

TEST(unique_block, is_null_for_what_is_never_served) {
  const heap<> subject(machine(), 1_MiB);
  const device_array<std::uint32_t> served(64, 99);
  machine().launch({1, 64}, ask_for_too_much{subject.ref(), served.get()});
  EXPECT_EQ(sum(served), 0u);
  expect_nothing_left(subject);
}

TEST(unique_block, is_null_when_the_heap_is_exhausted) {
  const heap<> subject(machine(), 256_KiB);
  const device_array<std::uint32_t> served(128, 99);
  machine().launch({1, 128}, ask_at_the_end{subject.ref(), served.get()});
  EXPECT_GT(sum(served), 0u);
  EXPECT_LE(sum(served), 64u);
  expect_nothing_left(subject);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
