// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What lanes do with an arena in its tests, and what they find.

#include "warpheap/containers/device_vector.hpp"
#include "warpheap/containers/page_chain.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// What lanes have got and seen.
struct outcome {
  std::uint64_t served = 0;
  std::uint64_t refused = 0;
  std::uint64_t bytes = 0;  ///< of those served, each rounded up to 16
  std::uint64_t wrong = 0;  ///< contents, alignment

  WARPHEAP_DEVICE void add(const outcome& one) {
    simt::atomic_ref(served).fetch_add(one.served, simt::order::relaxed);
    simt::atomic_ref(refused).fetch_add(one.refused, simt::order::relaxed);
    simt::atomic_ref(bytes).fetch_add(one.bytes, simt::order::relaxed);
    simt::atomic_ref(wrong).fetch_add(one.wrong, simt::order::relaxed);
  }
};

/// Each lane takes blocks of sizes between `least` and `most`, frees some of them, which must do
/// nothing, and looks at all of them when every lane of its block has written its own.
template <class Handle>
struct fill_and_look {
  static constexpr int each = 8;
  Handle from;
  std::uint32_t least;
  std::uint32_t most;
  outcome* all;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    unsigned char* blocks[each];
    outcome mine;
    for (int i = 0; i < each; ++i) {
      const std::uint32_t bytes = size(me, i);
      blocks[i] = static_cast<unsigned char*>(from.malloc(bytes));
      ++(blocks[i] == nullptr ? mine.refused : mine.served);
      if (blocks[i] == nullptr) continue;
      mine.bytes += round_up(bytes, 16u);
      mine.wrong += reinterpret_cast<std::uintptr_t>(blocks[i]) % 16 != 0;
      for (std::uint32_t b = 0; b < bytes; ++b) blocks[i][b] = value(me, i, b);
      if (i % 2 == 1) from.free(blocks[i]);
    }
    simt::block_sync();
    for (int i = 0; i < each; ++i) {
      if (blocks[i] == nullptr) continue;
      for (std::uint32_t b = 0; b < size(me, i); ++b) {
        mine.wrong += blocks[i][b] != value(me, i, b);
      }
    }
    all->add(mine);
  }
  WARPHEAP_DEVICE std::uint32_t size(std::uint64_t me, int i) const {
    return least + static_cast<std::uint32_t>(mix64(me * each + i) % (most - least + 1));
  }
  WARPHEAP_DEVICE static unsigned char value(std::uint64_t me, int i, std::uint32_t b) {
    return static_cast<unsigned char>(me * 31 + static_cast<unsigned>(i) * 7 + b);
  }
};

/// One lane asks for blocks of one size.
template <class Handle>
struct take_some {
  Handle from;
  std::uint32_t count;
  std::uint64_t bytes;
  outcome* all;
  WARPHEAP_DEVICE void operator()() const {
    outcome mine;
    for (std::uint32_t i = 0; i < count; ++i) {
      ++(from.malloc(bytes) == nullptr ? mine.refused : mine.served);
    }
    all->add(mine);
  }
};

/// All that a handle offers besides malloc.
template <class Handle>
struct use_the_handle {
  Handle from;
  outcome* all;
  WARPHEAP_DEVICE void operator()() const {
    outcome mine;
    const auto lane = static_cast<unsigned>(simt::thread_rank());
    auto* const zeroes = static_cast<unsigned char*>(from.calloc(5, 7));
    for (int i = 0; i < 35; ++i) mine.wrong += zeroes[i] != 0;
    for (std::size_t alignment = 8; alignment <= 4096; alignment *= 2) {
      auto* const block = static_cast<unsigned*>(from.aligned_malloc(alignment, 8));
      mine.wrong += reinterpret_cast<std::uintptr_t>(block) % alignment != 0;
      if (block != nullptr) *block = lane;
      mine.wrong += block == nullptr || *block != lane;
    }
    mine.wrong += from.aligned_malloc(32, from.largest_block()) != nullptr;
    const simt::group warp = simt::warp();
    auto* const together = static_cast<unsigned*>(from.malloc_shared(warp, 4 * 64));
    together[lane % 64] = lane;
    mine.wrong += together[lane % 64] != lane;
    mine.wrong += from.malloc(0) != nullptr || from.malloc(from.largest_block() + 1) != nullptr;
    from.free(nullptr);
    all->add(mine);
  }
};

/// Containers over an arena, one per lane, which free what they grow out of.
template <class Handle>
struct fill_containers {
  Handle from;
  outcome* all;
  WARPHEAP_DEVICE void operator()() const {
    const auto me = static_cast<std::uint32_t>(simt::thread_rank());
    device_vector<std::uint32_t> vector;
    page_chain<std::uint32_t> chain(64);
    outcome mine;
    for (std::uint32_t i = 0; i < 100; ++i) {
      ++(vector.push(from, me + i) && chain.push(from, me - i) ? mine.served : mine.refused);
    }
    for (std::uint32_t i = 0; i < vector.size(); ++i) mine.wrong += vector[i] != me + i;
    std::uint32_t i = 0;
    chain.for_each([&](std::uint32_t value) { mine.wrong += value != me - i++; });
    mine.wrong += chain.size() != 100 || vector.size() != 100;
    vector.clear(from);
    chain.clear(from);
    all->add(mine);
  }
};

/// A block of lanes takes, gives everything back, and takes as much again.
template <class Handle>
struct release_in_the_kernel {
  Handle from;
  bool keeps;
  outcome* all;
  WARPHEAP_DEVICE void operator()() const {
    outcome mine;
    const std::uint64_t me = simt::thread_rank();
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 10; ++i) {
        auto* const block = static_cast<std::uint64_t*>(from.malloc(256));
        ++(block == nullptr ? mine.refused : mine.served);
        if (block != nullptr) *block = me;
        mine.wrong += block != nullptr && *block != me;
      }
      simt::block_sync();
      const auto& arena = from.manager();
      keeps ? arena.rewind(me, simt::grid_size()) : arena.release(me, simt::grid_size());
      simt::block_sync();
    }
    all->add(mine);
  }
};

/// Every second lane uses the heap itself at the same time.
template <class Handle, class Arena>
struct share_the_heap {
  Handle of_heap;
  Arena of_arena;
  outcome* all;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t me = simt::thread_rank();
    outcome mine;
    for (std::uint64_t i = 0; i < 20; ++i) {
      auto* const block =
          static_cast<std::uint64_t*>(me % 2 == 0 ? of_heap.malloc(48) : of_arena.malloc(48));
      ++(block == nullptr ? mine.refused : mine.served);
      if (block == nullptr) continue;
      block[0] = block[5] = me + i;
      simt::backoff(10);
      mine.wrong += block[0] != me + i || block[5] != me + i;
      me % 2 == 0 ? of_heap.free(block) : of_arena.free(block);
    }
    all->add(mine);
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
