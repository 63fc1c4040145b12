// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/requests.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/hash.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// A pseudo-random permutation of 0..count-1 that needs no memory: a Feistel network over the next
/// even power of two, applied again until it lands below `count` (less than four times on average).
class permutation {
 public:
  /// \pre `count != 0`
  WARPHEAP_HD constexpr permutation(std::uint64_t count, std::uint64_t seed)
      : count_(count), seed_(mix64(seed)), half_((ceil_log2(count) + 1) / 2) {
    if (half_ == 0) half_ = 1;
  }

  /// The image of `i`. \pre `i < count`
  WARPHEAP_HD constexpr std::uint64_t operator()(std::uint64_t i) const {
    // Ends: the walk along the network's cycle comes back to `i`, which is below `count`.
    do {
      i = network(i);
    } while (i >= count_);
    return i;
  }

 private:
  WARPHEAP_HD constexpr std::uint64_t network(std::uint64_t i) const {
    const std::uint64_t mask = low_bits<std::uint64_t>(half_);
    std::uint64_t left = i >> half_;
    std::uint64_t right = i & mask;
    for (std::uint64_t round = 1; round <= 4; ++round) {
      const std::uint64_t next =
          left ^ (mix64(seed_ + round * 0x9e3779b97f4a7c15ull + right) & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t count_;
  std::uint64_t seed_;
  int half_;
};

/// Tells whether place `i` of `count` is selected.
WARPHEAP_HD constexpr bool is_selected(const bench::selection& which, std::uint64_t count,
                                       std::uint64_t i) {
  switch (which.which) {
    case bench::selection::kind::every_second:
      return i % 2 == 1;
    case bench::selection::kind::random:
      return permutation(count, which.seed)(i) < which.chosen;
    case bench::selection::kind::all:
      break;
  }
  return true;
}

}  // namespace lanes
WARPHEAP_END_NAMESPACE
