// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"
#include "warpheap/core/hash.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Maps a uniform 32-bit word to 0..bound-1 by the high half of a product: no division, and a bias
/// below bound / 2^32. \pre `bound != 0`
WARPHEAP_HD constexpr std::uint32_t scale_to(std::uint32_t uniform, std::uint32_t bound) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(uniform) * bound) >> 32);
}

/// Place `i` of a round over `count` places that begins at place `start`: right for every count, so
/// also where `start + i` has no 32 bits. \pre `start < count` and `i < count`
WARPHEAP_HD constexpr std::uint32_t place_in_round(std::uint32_t start, std::uint32_t i,
                                                   std::uint32_t count) {
  const std::uint32_t before_the_end = count - start;
  return i < before_the_end ? start + i : i - before_the_end;
}

/// SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): a Weyl sequence through `mix64`. One
/// 64-bit word of state, so a lane can keep one in registers for the length of a call.
class random_sequence {
 public:
  WARPHEAP_HD constexpr explicit random_sequence(std::uint64_t seed) : state_(seed) {}

  /// A uniform 64-bit word.
  WARPHEAP_HD constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ull;
    return mix64(state_);
  }

  /// A uniform number in 0..bound-1. \pre `bound != 0`
  WARPHEAP_HD constexpr std::uint32_t below(std::uint32_t bound) {
    return scale_to(static_cast<std::uint32_t>(next() >> 32), bound);
  }

 private:
  std::uint64_t state_;
};

WARPHEAP_END_NAMESPACE
