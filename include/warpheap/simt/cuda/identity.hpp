// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/hash.hpp"
#include "warpheap/simt/types.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// For what only lanes may call: the compiler refuses such calls of host code.
WARPHEAP_DEVICE inline void expect_lane() {}

WARPHEAP_DEVICE inline int lane_id() {
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

WARPHEAP_DEVICE inline std::uint32_t thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

WARPHEAP_DEVICE inline std::uint32_t block_rank() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

WARPHEAP_DEVICE inline std::uint32_t block_size() { return blockDim.x * blockDim.y * blockDim.z; }

WARPHEAP_DEVICE inline std::uint64_t thread_rank() {
  return std::uint64_t{block_rank()} * block_size() + thread_in_block();
}

WARPHEAP_DEVICE inline std::uint64_t grid_size() {
  return std::uint64_t{gridDim.x} * gridDim.y * gridDim.z * block_size();
}

/// A hint: the lane may be moved to another multiprocessor at any time.
WARPHEAP_DEVICE inline std::uint32_t sm_id() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

/// Which of its multiprocessor's places for warps the lane's warp has: a hint, as `sm_id` is.
WARPHEAP_DEVICE inline std::uint32_t warp_slot() {
  std::uint32_t slot;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  return slot;
}

inline constexpr bool has_clock = true;

/// Cycles of the multiprocessor's clock since some moment: two looks of one lane can be subtracted.
WARPHEAP_DEVICE inline std::uint64_t ticks() { return static_cast<std::uint64_t>(clock64()); }

/// The multiprocessor's clock, mixed with the thread's rank.
WARPHEAP_DEVICE inline std::uint64_t noise() { return mix64(ticks() + (thread_rank() << 32)); }

WARPHEAP_DEVICE inline std::byte* block_shared() {
  extern __shared__ std::byte warpheap_block_shared[];
  return warpheap_block_shared;
}

WARPHEAP_DEVICE inline void block_sync() { __syncthreads(); }

/// Ends the kernel, whose error then surfaces on the host. For debugging: no manager calls it.
WARPHEAP_DEVICE inline void trap() { __trap(); }

/// Calls a function that is seldom needed so that it costs its callers no registers. ptxas gives a
/// function that it knows the registers above those of its callers, so that a kernel needs the sum
/// along a chain of calls; one that is called by an address it does not know saves what it uses.
template <class Result, class... Arguments>
WARPHEAP_DEVICE Result call_apart(Result (*function)(Arguments...),
                                  std::type_identity_t<Arguments>... arguments) {
  asm volatile("" : "+l"(function));
  return function(arguments...);
}

WARPHEAP_DEVICE inline void backoff(std::uint32_t nanoseconds) { __nanosleep(nanoseconds); }

}  // namespace simt
WARPHEAP_END_NAMESPACE
