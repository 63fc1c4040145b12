// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How a lane continues: with its block, after a wait, in a function called apart, or not at all.

#include "warpheap/core/config.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

WARPHEAP_DEVICE inline std::byte* block_shared() {
  extern __shared__ std::byte warpheap_block_shared[];
  return warpheap_block_shared;
}

WARPHEAP_DEVICE inline void block_sync() { __syncthreads(); }

/// Has the bytes around `address` brought closer, for loads that follow soon. \pre they are memory
WARPHEAP_DEVICE inline void prefetch(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

/// Ends the kernel with an error that surfaces on the host. For debugging: no manager calls it.
WARPHEAP_DEVICE inline void trap() { __trap(); }

/// Calls a rarely needed function in such a way that it costs its callers no registers. If ptxas
/// knows the function, it assigns registers above those of its callers, so that a kernel needs the
/// sum along a chain of calls. A function that is called by an address unknown to ptxas saves the
/// registers that it uses.
///
/// ptxas and nvlink learn from its type what such a call may reach: every function of that type
/// whose address is taken. So a function must not have the type of one that it calls apart,
/// directly or indirectly: that would count as recursion, and the stack size of each kernel that
/// gets there would be unknown. CUDA then reserves `cudaLimitStackSize` bytes, 1024 by default,
/// even if the frame of the kernel alone is larger.
template <class Result, class... Arguments>
WARPHEAP_DEVICE Result call_apart(Result (*function)(Arguments...),
                                  std::type_identity_t<Arguments>... arguments) {
  asm volatile("" : "+l"(function));
  return function(arguments...);
}

/// Returns the same number, but the compiler does not know that, so whatever depends on the number
/// is computed where it is used. Otherwise, numbers that only a rare step needs would be computed
/// before the loop around it, and each would occupy a register from there on.
template <std::integral T>
requires(sizeof(T) == 4) WARPHEAP_DEVICE T as_needed(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Calls `step` until it returns true, at most `Times` times, without a loop.
///
/// If a loop ends by what it has read from memory that others may change, ptxas takes it for one
/// that waits for another lane, and puts a YIELD into it. That releases the lanes of the warp that
/// wait for those in the loop, and nothing brings them together again, not even in the kernel that
/// called (docs/decisions/0034).
template <int Times, class Step>
WARPHEAP_DEVICE void repeat(const Step& step) {
#pragma unroll
  for (int i = 0; i < Times; ++i) {
    if (step()) break;
  }
}

WARPHEAP_DEVICE inline void backoff(std::uint32_t nanoseconds) { __nanosleep(nanoseconds); }

}  // namespace simt
WARPHEAP_END_NAMESPACE
