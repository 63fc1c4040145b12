// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using xmalloc_heap = heap<xmalloc<>>;

/// Every lane of a block takes one block of `bytes`.
struct take_together {
  handle<xmalloc<>> heap;
  std::size_t bytes;
  std::byte** blocks;
  WARPHEAP_DEVICE void operator()() const {
    blocks[simt::thread_rank()] = static_cast<std::byte*>(heap.malloc(bytes));
  }
};

/// Every lane frees one block.
struct give_together {
  handle<xmalloc<>> heap;
  std::byte* const* blocks;
  WARPHEAP_DEVICE void operator()() const { heap.free(blocks[simt::thread_rank()]); }
};

/// What `lanes` lanes of one block get that ask for `bytes` at once.
inline std::vector<std::byte*> take(const xmalloc_heap& from, std::size_t bytes,
                                    std::uint32_t lanes = 1) {
  const device_array<std::byte*> blocks(lanes);
  machine().launch({1, lanes}, take_together{from.ref(), bytes, blocks.get()});
  return blocks.read();
}

/// One lane for each block frees it.
inline void give(const xmalloc_heap& to, const std::vector<std::byte*>& blocks) {
  const device_array<std::byte*> there(blocks);
  machine().launch({1, static_cast<std::uint32_t>(blocks.size())},
                   give_together{to.ref(), there.get()});
}

/// Blocks of `bytes`, one after another, until there are none.
inline std::vector<std::byte*> take_all(const xmalloc_heap& from, std::size_t bytes) {
  std::vector<std::byte*> all;
  for (std::byte* block = take(from, bytes)[0]; block != nullptr; block = take(from, bytes)[0]) {
    all.push_back(block);
  }
  return all;
}

inline void expect_valid(const xmalloc_heap& of) {
  const validation found = of.validate();
  EXPECT_TRUE(found.ok()) << found.describe();
}

/// Nothing is in use, and the whole heap is available as one block.
inline void expect_whole(const xmalloc_heap& of) {
  expect_valid(of);
  EXPECT_EQ(of.stats().blocks_in_use, 0u);
  EXPECT_EQ(of.stats().bytes_in_use, 0u);
  const auto everything = take(of, of.largest_block());
  ASSERT_NE(everything[0], nullptr);
  give(of, everything);
  expect_valid(of);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
