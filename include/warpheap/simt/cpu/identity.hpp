// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/error.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/simt/cpu/lane.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// For functions that only lanes may call. (nvcc rejects such calls in host code.)
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

/// A hint, like `sm_id`: warps of one block have different slots.
inline std::uint32_t warp_slot() { return thread_in_block() / warp_size; }

/// The CPU model has no time: the clock stands still.
inline constexpr bool has_clock = false;
inline std::uint64_t ticks() { return 0; }

/// Deterministic: a function of the lane's rank, the launch, and how often the lane has asked.
WARPHEAP_SWITCHING std::uint64_t noise() {
  auto& me = runtime::self();
  me.noise += 0x9e3779b97f4a7c15ull;
  return mix64(me.noise);
}

/// Like `noise`: the model has no cheaper one.
WARPHEAP_SWITCHING std::uint32_t rough_noise() { return static_cast<std::uint32_t>(noise() >> 32); }

}  // namespace simt
WARPHEAP_END_NAMESPACE
