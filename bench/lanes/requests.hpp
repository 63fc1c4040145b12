// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The kernels over a heap that most cases are made of: a batch of mallocs, and of frees.

#include "bench/host/requests.hpp"
#include "bench/lanes/draw.hpp"
#include "bench/lanes/kernel.hpp"
#include "bench/lanes/permutation.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// The request that the calling lane makes; `batch.count` or more if it makes none.
WARPHEAP_DEVICE inline std::uint64_t own_request(const bench::request_batch& batch) {
  const std::uint64_t rank = simt::thread_rank();
  if (!batch.one_per_warp) return rank;
  return simt::lane_id() == 0 ? rank / bench::lanes_per_warp : batch.count;
}

struct allocate {
  bench::allocation in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t i = own_request(in.batch);
    if (i >= in.batch.count) return;
    in.addresses[i] = reinterpret_cast<std::uint64_t>(heap.malloc(requested_bytes(in.batch, i)));
  }
};

struct release {
  bench::freeing in;
  template <class Handle>
  WARPHEAP_DEVICE void operator()(const Handle& heap) const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.count) return;
    const bool all = in.which.which == bench::selection::kind::all;
    if (!all && !is_selected(in.which, in.count, i)) return;
    heap.free(reinterpret_cast<void*>(in.addresses[i]));
    if (!all) in.addresses[i] = 0;
  }
};

}  // namespace lanes
WARPHEAP_END_NAMESPACE
