// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// The number of lanes of a full warp. The last warp of a block may have fewer.
inline constexpr int warp_size = 32;

/// A set of lanes of one warp: bit i stands for lane i.
class lane_mask {
 public:
  lane_mask() = default;
  WARPHEAP_HD constexpr explicit lane_mask(std::uint32_t bits) : bits_(bits) {}
  WARPHEAP_HD static constexpr lane_mask of(int lane) { return lane_mask{1u << lane}; }
  /// The lanes 0..count-1. \pre `count <= warp_size`
  WARPHEAP_HD static constexpr lane_mask first(int count) {
    return lane_mask{low_bits<std::uint32_t>(count)};
  }

  WARPHEAP_HD constexpr std::uint32_t bits() const { return bits_; }
  WARPHEAP_HD constexpr bool empty() const { return bits_ == 0; }
  WARPHEAP_HD constexpr int count() const { return popcount(bits_); }
  WARPHEAP_HD constexpr bool contains(int lane) const { return (bits_ >> lane & 1u) != 0; }
  /// \pre `!empty()`
  WARPHEAP_HD constexpr int lowest() const { return lowest_bit(bits_); }
  /// The members with a number below `lane`.
  WARPHEAP_HD constexpr lane_mask below(int lane) const {
    return lane_mask{bits_ & low_bits<std::uint32_t>(lane)};
  }
  /// The member with exactly `k` members below it. \pre `k < count()`
  WARPHEAP_HD constexpr int nth(int k) const { return kth_set_bit(bits_, k); }
  WARPHEAP_HD constexpr lane_mask without(int lane) const {
    return lane_mask{bits_ & ~(1u << lane)};
  }

  WARPHEAP_HD friend constexpr lane_mask operator|(lane_mask a, lane_mask b) {
    return lane_mask{a.bits_ | b.bits_};
  }
  WARPHEAP_HD friend constexpr lane_mask operator&(lane_mask a, lane_mask b) {
    return lane_mask{a.bits_ & b.bits_};
  }
  /// The members of `a` that are not in `b`.
  WARPHEAP_HD friend constexpr lane_mask operator-(lane_mask a, lane_mask b) {
    return lane_mask{a.bits_ & ~b.bits_};
  }
  friend constexpr bool operator==(lane_mask, lane_mask) = default;

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace simt
WARPHEAP_END_NAMESPACE
