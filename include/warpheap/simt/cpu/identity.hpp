// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/error.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/simt/cpu/lane.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// For what only lanes may call. (nvcc refuses such calls of host code.)
/// \throws invalid_argument if the caller is not a lane
WARPHEAP_SWITCHING void expect_lane() {
  if (runtime::here.lane == nullptr) [[unlikely]] {
    throw invalid_argument(
        "only lanes can allocate and free, and host code has called: launch a "
        "functor that does");
  }
}

inline int lane_id() { return static_cast<int>(runtime::self().number); }

inline std::uint32_t thread_in_block() { return runtime::self().thread_in_block; }

inline std::uint32_t block_rank() { return runtime::self().block; }

inline std::uint32_t block_size() { return runtime::self().threads_per_block; }

inline std::uint64_t thread_rank() { return runtime::self().rank(); }

inline std::uint64_t grid_size() {
  const auto& me = runtime::self();
  return std::uint64_t{me.blocks} * me.threads_per_block;
}

inline std::uint32_t sm_id() { return runtime::self().sm; }

/// A hint, as `sm_id` is: warps of one block have different ones.
inline std::uint32_t warp_slot() { return thread_in_block() / warp_size; }

/// There is no time in the CPU model: the clock stands still.
inline constexpr bool has_clock = false;
inline std::uint64_t ticks() { return 0; }

/// Deterministic: a function of the lane's rank, the launch, and how often the lane has asked.
WARPHEAP_SWITCHING std::uint64_t noise() {
  auto& me = runtime::self();
  me.noise += 0x9e3779b97f4a7c15ull;
  return mix64(me.noise);
}

inline std::byte* block_shared() { return runtime::self().shared; }

inline void block_sync() { runtime::wait_for_block(); }

/// Ends the program. For debugging: no manager calls it.
[[noreturn]] inline void trap() {
  std::fflush(stdout);  // what lanes have printed
  std::abort();
}

/// Calls a function that is seldom needed.
template <class Result, class... Arguments>
Result call_apart(Result (*function)(Arguments...), std::type_identity_t<Arguments>... arguments) {
  return function(arguments...);
}

/// There is no time in the CPU model: every wait is one turn of the other lanes.
inline void backoff(std::uint32_t /*nanoseconds*/) { runtime::give_way(); }

}  // namespace simt
WARPHEAP_END_NAMESPACE
