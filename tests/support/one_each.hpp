// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/handle.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The first `count` lanes of a grid ask once.
template <class M>
struct take_one_each {
  handle<M> from;
  std::uint64_t bytes;
  std::uint64_t count;
  void** blocks;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) blocks[rank] = from.malloc(bytes);
  }
};

/// The first `count` lanes of a grid free one block.
template <class M>
struct give_one_each {
  handle<M> to;
  std::uint64_t count;
  void* const* blocks;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) to.free(blocks[rank]);
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
