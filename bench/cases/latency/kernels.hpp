// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cases/latency/requests.hpp"
#include "bench/lanes/requests.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::latency {

/// Ticks since `begin`, or the most that can be noted: a call may take seconds.
WARPHEAP_DEVICE inline std::uint32_t ticks_since(std::uint64_t begin) {
  constexpr std::uint64_t most = 0xffffffffu;
  const std::uint64_t passed = simt::ticks() - begin;
  return static_cast<std::uint32_t>(passed < most ? passed : most);
}

/// As `allocate` and `release`, each call between two looks at the clock.
struct allocate_clocked {
  bench::clocked_allocation in;
  template <class Handle>
  requires simt::has_clock WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t i = own_request(in.batch);
    if (i >= in.batch.count) return;
    const std::uint64_t bytes = requested_bytes(in.batch, i);
    const std::uint64_t begin = simt::ticks();
    void* block = heap.malloc(bytes);
    in.ticks[i] = ticks_since(begin);
    in.addresses[i] = reinterpret_cast<std::uint64_t>(block);
  }
};

struct release_clocked {
  bench::clocked_freeing in;
  template <class Handle>
  requires simt::has_clock WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.count) return;
    void* block = reinterpret_cast<void*>(in.addresses[i]);
    const std::uint64_t begin = simt::ticks();
    heap.free(block);
    in.ticks[i] = ticks_since(begin);
  }
};

using kernels = type_list<allocate_clocked, release_clocked>;

}  // namespace lanes::latency
WARPHEAP_END_NAMESPACE
