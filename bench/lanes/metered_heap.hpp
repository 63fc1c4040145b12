// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How much of a kernel's time its warps spend in malloc and in free.

#include "bench/host/call_time.hpp"
#include "bench/host/metered_request.hpp"
#include "bench/lanes/kernel.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// A heap's handle whose calls are timed on the multiprocessor's clock if there is a place for the
/// sums. Without one, a call costs one comparison more.
template <class Handle>
struct metered_heap {
  Handle heap;
  bench::call_time* time = nullptr;

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    if (time == nullptr) return heap.malloc(bytes);
    void* block = nullptr;
    add_time(time->in_malloc, [&] { block = heap.malloc(bytes); });
    return block;
  }
  WARPHEAP_DEVICE void free(void* block) const {
    if (time == nullptr) {
      heap.free(block);
    } else {
      add_time(time->in_free, [&] { heap.free(block); });
    }
  }

 private:
  template <class Call>
  WARPHEAP_DEVICE static void add_time(std::uint64_t& sum, const Call& call) {
    const simt::group together = simt::coalesced(&sum);
    const std::uint64_t begin = simt::ticks();
    call();
    // A call may leave lanes apart. If they went on so, several of them would be in the next call
    // at the same time, each for itself, and the warp longer in malloc than it takes in all.
    together.sync();
    if (!together.is_leader()) return;
    // Relaxed: the host reads it after the launch.
    simt::atomic_ref(sum).fetch_add(simt::ticks() - begin, simt::order::relaxed);
  }
};

/// Adds what a warp took from `begin` on. Each warp's lane 0 calls it once, at its end.
WARPHEAP_DEVICE inline void add_whole_time(bench::call_time* time, std::uint64_t begin) {
  if (time == nullptr || simt::lane_id() != 0) return;
  // Relaxed: as above.
  simt::atomic_ref(time->in_all).fetch_add(simt::ticks() - begin, simt::order::relaxed);
}

/// A kernel that uses a heap, metered.
template <class Kernel>
struct metered {
  bench::metered_request<request_of<Kernel>> in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t begin = simt::ticks();
    const Kernel kernel{in.request};
    kernel(metered_heap<Handle>{heap, in.time});
    add_whole_time(in.time, begin);
  }
};

}  // namespace lanes
WARPHEAP_END_NAMESPACE
