// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How a lane runs on: with its block, after a wait, by a call apart, or not at all.

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

/// Ends the kernel, whose error then surfaces on the host. For debugging: no manager calls it.
WARPHEAP_DEVICE inline void trap() { __trap(); }

/// Calls a function that is seldom needed so that it costs its callers no registers. ptxas gives a
/// function that it knows the registers above those of its callers, so that a kernel needs the sum
/// along a chain of calls; one that is called by an address it does not know saves what it uses.
///
/// What such a call may reach, ptxas and nvlink learn from its type: every function of that type
/// whose address is taken. So a function must not have the type of one that it calls apart, itself
/// or through others: that counts as recursion, and the stack of each kernel that gets there is
/// unknown. CUDA then gives it `cudaLimitStackSize` bytes, 1024 if nobody has said more, also where
/// the frame of the kernel alone is larger.
template <class Result, class... Arguments>
WARPHEAP_DEVICE Result call_apart(Result (*function)(Arguments...),
                                  std::type_identity_t<Arguments>... arguments) {
  asm volatile("" : "+l"(function));
  return function(arguments...);
}

/// The same number, but the compiler does not know that: what follows from it is computed where it
/// is used. Otherwise numbers that only a rare step needs are computed before the loop around it,
/// and each keeps a register from there on.
template <std::integral T>
requires(sizeof(T) == 4) WARPHEAP_DEVICE T as_needed(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

WARPHEAP_DEVICE inline void backoff(std::uint32_t nanoseconds) { __nanosleep(nanoseconds); }

}  // namespace simt
WARPHEAP_END_NAMESPACE
