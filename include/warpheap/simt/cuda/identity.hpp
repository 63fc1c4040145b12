// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"
#include "warpheap/core/hash.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// For functions that only lanes may call: the compiler rejects such calls in host code.
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

/// The lane's warp's place among the places for warps of its multiprocessor. A hint, like `sm_id`.
WARPHEAP_DEVICE inline std::uint32_t warp_slot() {
  std::uint32_t slot;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  return slot;
}

inline constexpr bool has_clock = true;

/// The multiprocessor's clock, in cycles. Only the difference of two readings of a lane has a
/// meaning.
WARPHEAP_DEVICE inline std::uint64_t ticks() { return static_cast<std::uint64_t>(clock64()); }

/// Noise that costs a few instructions: lanes of a warp may get the same word, and successive calls
/// similar ones. The high bits are better than the low ones.
WARPHEAP_DEVICE inline std::uint32_t rough_noise() {
  std::uint32_t now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
  return (now + (sm_id() << 16) + (warp_slot() << 10)) * 0x9e3779b1u;
}

/// The multiprocessor's clock, mixed with the thread's rank.
WARPHEAP_DEVICE inline std::uint64_t noise() { return mix64(ticks() + (thread_rank() << 32)); }

}  // namespace simt
WARPHEAP_END_NAMESPACE
