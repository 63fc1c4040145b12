// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using gallatin_heap = heap<gallatin<>>;

/// Every lane takes one block of `bytes`.
struct take_one_each {
  handle<gallatin<>> heap;
  std::size_t bytes;
  std::byte** blocks;
  std::uint64_t count;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) blocks[rank] = static_cast<std::byte*>(heap.malloc(bytes));
  }
};

/// Every lane frees one block.
struct free_one_each {
  handle<gallatin<>> heap;
  std::byte* const* blocks;
  std::uint64_t count;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) heap.free(blocks[rank]);
  }
};

/// What `count` lanes get that ask for `bytes` at once; null where there was nothing.
inline std::vector<std::byte*> take(const gallatin_heap& from, std::size_t bytes,
                                    std::uint64_t count) {
  const device_array<std::byte*> blocks(count);
  machine().launch(covering(count), take_one_each{from.ref(), bytes, blocks.get(), count});
  return blocks.read();
}

/// Blocks of `bytes` until there are none, in batches of `batch` lanes; sorted by address.
inline std::vector<std::byte*> take_all(const gallatin_heap& from, std::size_t bytes,
                                        std::uint64_t batch = 20'000) {
  std::vector<std::byte*> all;
  for (;;) {
    auto got = take(from, bytes, batch);
    got.erase(std::remove(got.begin(), got.end(), nullptr), got.end());
    all.insert(all.end(), got.begin(), got.end());
    if (got.size() < batch) break;
  }
  std::sort(all.begin(), all.end());
  return all;
}

inline void give(const gallatin_heap& to, const std::vector<std::byte*>& blocks) {
  const device_array<std::byte*> there(blocks);
  machine().launch(covering(blocks.size()), free_one_each{to.ref(), there.get(), blocks.size()});
}

inline std::byte* take_one(const gallatin_heap& from, std::size_t bytes) {
  return take(from, bytes, 1).front();
}

/// \pre `blocks` is sorted
inline void expect_apart(const std::vector<std::byte*>& blocks, std::size_t bytes) {
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    ASSERT_GE(static_cast<std::size_t>(blocks[i] - blocks[i - 1]), bytes);
  }
}

inline void expect_valid(const gallatin_heap& of) {
  const validation found = of.validate();
  EXPECT_TRUE(found.ok()) << found.describe();
}

inline std::size_t all_segments(const gallatin_heap& of) {
  const auto shape = of.ref().manager().shape();
  return std::size_t{shape.segments()} << shape.segment_shift();
}

/// Nothing is in use, and the whole heap is available as one block.
inline void expect_whole(const gallatin_heap& of) {
  expect_valid(of);
  EXPECT_EQ(of.stats().blocks_in_use, 0u);
  std::byte* everything = take_one(of, all_segments(of));
  EXPECT_EQ(everything, of.ref().manager().segments());
  give(of, {everything});
  expect_valid(of);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
