// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What request i asks for: a function of its number and the seed, so that every launch over the
/// same batch, and the host, know it without storing it.

#include "bench/host/requests.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/hash.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// A uniform word for request `i`, another one for every `salt`.
WARPHEAP_HD constexpr std::uint64_t request_noise(const bench::request_batch& batch,
                                                  std::uint64_t i, std::uint64_t salt) {
  return mix64(mix64(batch.seed + salt) + batch.first + i);
}

/// The size that a uniform 64-bit word draws. \pre size_max - size_min < 2^32 - 1; with `powers`,
/// both are powers of two
WARPHEAP_HD constexpr std::uint64_t draw_size(const bench::request_batch& batch,
                                              std::uint64_t uniform) {
  const std::uint64_t high = uniform >> 32;
  if (batch.sizes == bench::distribution::powers) {
    const int least = floor_log2(batch.size_min);
    const std::uint64_t choices =
        static_cast<std::uint64_t>(floor_log2(batch.size_max) - least + 1);
    return batch.size_min << (high * choices >> 32);
  }
  return batch.size_min + (high * (batch.size_max - batch.size_min + 1) >> 32);
}

/// Bytes that request `i` asks for.
WARPHEAP_HD constexpr std::uint64_t requested_bytes(const bench::request_batch& batch,
                                                    std::uint64_t i) {
  if (batch.offsets != nullptr) {
    return (batch.offsets[i + 1] - batch.offsets[i]) * sizeof(std::uint32_t);
  }
  if (batch.size_min == batch.size_max) return batch.size_min;
  return draw_size(batch, request_noise(batch, i, 1));
}

}  // namespace lanes
WARPHEAP_END_NAMESPACE
