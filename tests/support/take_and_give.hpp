// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Launches whose lanes take blocks of a heap and give them back, and a fixture of one heap.

#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using block_list = std::vector<std::byte*>;

/// The first `count` lanes of a grid ask once.
template <class M>
struct take_one_each {
  handle<M> from;
  std::size_t bytes;
  std::uint64_t count;
  std::byte** blocks;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) blocks[rank] = static_cast<std::byte*>(from.malloc(bytes));
  }
};

/// The first `count` lanes of a grid free one block.
template <class M>
struct give_one_each {
  handle<M> to;
  std::uint64_t count;
  std::byte* const* blocks;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) to.free(blocks[rank]);
  }
};

/// The blocks that `count` lanes get that ask for `bytes` at once, by address. There are fewer
/// where some got null.
template <class M>
block_list take(const heap<M>& from, std::size_t bytes, std::uint64_t count) {
  const device_array<std::byte*> there(count);
  from.on().launch(covering(count), take_one_each<M>{from.ref(), bytes, count, there.get()});
  block_list got = there.read();
  got.erase(std::remove(got.begin(), got.end(), nullptr), got.end());
  std::sort(got.begin(), got.end());
  return got;
}

/// Null if there is none.
template <class M>
std::byte* take_one(const heap<M>& from, std::size_t bytes) {
  const block_list got = take(from, bytes, 1);
  return got.empty() ? nullptr : got.front();
}

/// Blocks until a single lane gets none, in the order of the launches: `batch` lanes at a time, the
/// last ones alone.
template <class M>
block_list take_all(const heap<M>& from, std::size_t bytes, std::uint64_t batch) {
  block_list all;
  for (std::uint64_t lanes = batch;;) {
    const block_list got = take(from, bytes, lanes);
    all.insert(all.end(), got.begin(), got.end());
    if (got.size() == lanes) continue;
    if (lanes == 1) break;
    lanes = 1;
  }
  return all;
}

template <class M>
void give(const heap<M>& to, const block_list& blocks) {
  if (blocks.empty()) return;
  const device_array<std::byte*> there(blocks);
  to.on().launch(covering(blocks.size()), give_one_each<M>{to.ref(), blocks.size(), there.get()});
}

template <class M>
void expect_valid(const heap<M>& of) {
  const validation found = of.validate();
  EXPECT_TRUE(found.ok()) << found.describe();
}

/// Nothing is in use, and the whole heap is available as one block.
template <class M>
void expect_whole(const heap<M>& of) {
  expect_valid(of);
  EXPECT_EQ(of.stats().blocks_in_use, 0u);
  EXPECT_EQ(of.stats().bytes_in_use, 0u);
  std::byte* const everything = take_one(of, of.largest_block());
  ASSERT_NE(everything, nullptr);
  give(of, {everything});
  expect_valid(of);
}

/// A heap, valid after each launch on it.
template <class M>
class heap_test : public ::testing::Test {
 protected:
  explicit heap_test(std::size_t bytes) : heap_(machine(), bytes) {}

  block_list take(std::size_t bytes, std::uint64_t count) {
    block_list got = test::take(heap_, bytes, count);
    expect_valid(heap_);
    return got;
  }
  block_list take_all(std::size_t bytes) {
    block_list all = test::take_all(heap_, bytes, heap_.bytes() / bytes + 1);
    expect_valid(heap_);
    return all;
  }
  void give(const block_list& blocks) {
    test::give(heap_, blocks);
    expect_valid(heap_);
  }

  warpheap::heap<M> heap_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
