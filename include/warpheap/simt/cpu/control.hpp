// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How a lane continues: with its block, after a wait, in a function called apart, or not at all.

#include "warpheap/simt/cpu/lane.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

inline std::byte* block_shared() { return runtime::self().shared; }

inline void block_sync() { runtime::wait_for_block(); }

/// Nothing is far away in the CPU model.
inline void prefetch(const void* /*address*/) {}

/// Ends the program. For debugging: no manager calls it.
[[noreturn]] inline void trap() {
  std::fflush(stdout);  // what lanes have printed
  std::abort();
}

/// Calls a rarely needed function.
template <class Result, class... Arguments>
Result call_apart(Result (*function)(Arguments...), std::type_identity_t<Arguments>... arguments) {
  return function(arguments...);
}

/// Returns the same number: lanes of the CPU model have no registers to save.
template <std::integral T>
requires(sizeof(T) == 4) T as_needed(T value) { return value; }

/// Calls `step` until it returns true, at most `Times` times.
template <int Times, class Step>
void repeat(const Step& step) {
  for (int i = 0; i < Times && !step(); ++i) {
  }
}

/// The CPU model has no time: every wait is one turn of the other lanes.
inline void backoff(std::uint32_t /*nanoseconds*/) { runtime::give_way(); }

}  // namespace simt
WARPHEAP_END_NAMESPACE
