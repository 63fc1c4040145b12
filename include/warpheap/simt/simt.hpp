// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The seam to a SIMT machine. Everything above it is written once, in terms of these names, and
/// runs on both models:
///
/// - identity: `lane_id, thread_rank, thread_in_block, block_rank, block_size, grid_size, sm_id`,
///   `warp_rank`, `warp_slot`, `noise` (a word that differs between lanes and calls), `rough_noise`
///   (a cheaper one), `ticks` (of a clock, if `has_clock`), `expect_lane` (in functions that host
///   code must not call);
/// - `group`, made by `coalesced(of)` or `warp()`, and `whole_warp`, available if
///   `is_whole_warp(of)`, where `of` is an address that lanes of one heap have in common:
///   `mask, size, rank, leader, is_leader, ballot, any, all, shuffle, broadcast, match, scan_add,
///   least, merge_bits, sync`;
/// - `atomic_ref<T>` for 32- and 64-bit words and `fence(order)`, both at device scope;
///   `load_hint` and `load_hints`; the orders `acquire_to_write` and `release_by_fence`;
///   `block_atomic_ref<T>` for words in block-shared memory;
/// - control: `backoff`, `block_sync`, `block_shared`, `call_apart`, `as_needed`, `repeat`,
///   `prefetch`, `trap`;
/// - host side: `device` (memory, copies, `launch`, `start`, properties, `resources` of a kernel if
///   it `tells_resources`).

#include "warpheap/core/align.hpp"
#include "warpheap/simt/lane_mask.hpp"
#include "warpheap/simt/types.hpp"

#include <cstdint>

// Without this, host code that meant a CUDA heap would get the CPU model's and fail to link.
#if !WARPHEAP_CUDA_MODEL && !defined(WARPHEAP_CPU)
#error \
    "kernels are compiled by nvcc: include warpheap/any_heap.hpp to own a heap in host code, \
or link warpheap::cpu (which defines WARPHEAP_CPU) to run lanes on the CPU"
// A header that does not exist ends the compilation here, before the errors that follow.
#include <link_with_warpheap_cpu>
#endif

#if WARPHEAP_CUDA_MODEL
#include "warpheap/simt/cuda/atomic.hpp"
#include "warpheap/simt/cuda/control.hpp"
#include "warpheap/simt/cuda/device.hpp"
#include "warpheap/simt/cuda/group.hpp"
#include "warpheap/simt/cuda/identity.hpp"
#else
#include "warpheap/simt/cpu/atomic.hpp"
#include "warpheap/simt/cpu/control.hpp"
#include "warpheap/simt/cpu/device.hpp"
#include "warpheap/simt/cpu/group.hpp"
#include "warpheap/simt/cpu/identity.hpp"
#endif

WARPHEAP_BEGIN_NAMESPACE
using simt::device;

namespace simt {

/// The calling warp's number in its grid, whose blocks may end in a part of a warp.
WARPHEAP_DEVICE inline std::uint64_t warp_rank() {
  constexpr std::uint32_t lanes = warp_size;
  return std::uint64_t{block_rank()} * (align_up(block_size(), lanes) / lanes) +
         thread_in_block() / lanes;
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
