// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Kernels over a heap. Each is instantiated for every manager, so there are few of them and the
/// cases are made of them.

#include "bench/host/requests.hpp"
#include "bench/lanes/contents.hpp"
#include "bench/lanes/draw.hpp"
#include "bench/lanes/permutation.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// The request that the calling lane makes; `batch.count` or more if it makes none.
WARPHEAP_DEVICE inline std::uint64_t own_request(const bench::request_batch& batch) {
  const std::uint64_t rank = simt::thread_rank();
  if (!batch.one_a_warp) return rank;
  return simt::lane_id() == 0 ? rank / bench::lanes_a_warp : batch.count;
}

/// `Handle` is what a kernel gets of a heap.
template <class Handle>
struct allocate {
  Handle heap;
  bench::request_batch batch;
  std::uint64_t* addresses;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = own_request(batch);
    if (i >= batch.count) return;
    addresses[i] = reinterpret_cast<std::uint64_t>(heap.malloc(requested_bytes(batch, i)));
  }
};

template <class Handle>
struct release {
  Handle heap;
  std::uint64_t count;
  bench::selection which;
  std::uint64_t* addresses;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= count) return;
    const bool all = which.which == bench::selection::kind::all;
    if (!all && !is_selected(which, count, i)) return;
    heap.free(reinterpret_cast<void*>(addresses[i]));
    if (!all) addresses[i] = 0;
  }
};

/// Ticks since `begin`, or the most that can be noted: a call may take seconds.
WARPHEAP_DEVICE inline std::uint32_t ticks_since(std::uint64_t begin) {
  constexpr std::uint64_t most = 0xffffffffu;
  const std::uint64_t passed = simt::ticks() - begin;
  return static_cast<std::uint32_t>(passed < most ? passed : most);
}

/// The same, each call between two looks at the clock.
template <class Handle>
struct allocate_clocked {
  Handle heap;
  bench::request_batch batch;
  std::uint64_t* addresses;
  std::uint32_t* ticks;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = own_request(batch);
    if (i >= batch.count) return;
    const std::uint64_t bytes = requested_bytes(batch, i);
    const std::uint64_t begin = simt::ticks();
    void* block = heap.malloc(bytes);
    ticks[i] = ticks_since(begin);
    addresses[i] = reinterpret_cast<std::uint64_t>(block);
  }
};

template <class Handle>
struct release_clocked {
  Handle heap;
  std::uint64_t count;
  const std::uint64_t* addresses;
  std::uint32_t* ticks;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= count) return;
    void* block = reinterpret_cast<void*>(addresses[i]);
    const std::uint64_t begin = simt::ticks();
    heap.free(block);
    ticks[i] = ticks_since(begin);
  }
};

/// Every lane holds up to `slots` blocks. An operation picks a slot: an empty one gets a block,
/// a full one gives its block back.
template <class Handle>
struct churn {
  static constexpr std::uint32_t slots = 4;

  Handle heap;
  bench::churn_request request;
  bench::churn_report* report;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= request.threads) return;
    random_sequence random(request_noise(request.sizes, rank, 3));
    void* blocks[slots] = {};
    std::uint64_t bytes[slots] = {};
    std::uint64_t nulls = 0;
    std::uint64_t corrupted = 0;
    for (std::uint64_t i = 0; i < request.operations; ++i) {
      const std::uint64_t draw = random.next();
      const std::uint32_t slot = static_cast<std::uint32_t>(draw) % slots;
      if (blocks[slot] != nullptr) {
        corrupted += give(blocks[slot], bytes[slot], rank * slots + slot);
        blocks[slot] = nullptr;
      } else {
        bytes[slot] = draw_size(request.sizes, draw);
        blocks[slot] = heap.malloc(bytes[slot]);
        if (blocks[slot] == nullptr) {
          ++nulls;
        } else {
          write_contents(blocks[slot], bytes[slot], tag_of(rank * slots + slot));
        }
      }
    }
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      if (blocks[slot] == nullptr) continue;
      corrupted += give(blocks[slot], bytes[slot], rank * slots + slot);
    }
    // Relaxed: the host reads the report after the launch.
    if (nulls != 0) simt::atomic_ref(report->nulls).fetch_add(nulls, simt::order::relaxed);
    if (corrupted != 0) {
      simt::atomic_ref(report->corrupted).fetch_add(corrupted, simt::order::relaxed);
    }
  }

 private:
  WARPHEAP_HD static std::uint64_t tag_of(std::uint64_t place) { return mix64(place); }

  /// Frees a block; 1 if its contents had changed.
  WARPHEAP_DEVICE std::uint64_t give(void* block, std::uint64_t bytes, std::uint64_t place) const {
    const bool same = has_contents(block, bytes, tag_of(place));
    heap.free(block);
    return same ? 0 : 1;
  }
};

/// `Manager` hands out numbered pages, and counts each thread's steps in `steps`.
template <class Manager>
struct take_pages {
  Manager manager;
  std::uint64_t threads;
  std::uint32_t* pages;
  std::uint32_t* steps;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= threads) return;
    steps[i] = 0;
    pages[i] = manager.take_page();
  }
};

template <class Manager>
struct give_pages {
  Manager manager;
  std::uint64_t threads;
  const std::uint32_t* pages;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < threads && pages[i] != bench::no_page) manager.give_page(pages[i]);
  }
};

}  // namespace lanes
WARPHEAP_END_NAMESPACE
