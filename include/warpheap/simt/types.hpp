// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The types of the seam that do not depend on the machine.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// The number of lanes of a full warp. The last warp of a block may have fewer.
inline constexpr int warp_size = 32;

/// The memory orders of atomic operations, with the meanings of C++20, at device scope.
enum class order { relaxed, acquire, release, acq_rel, seq_cst };

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

/// The shape of a launch. One-dimensional, because no device code of warpheap needs more.
struct grid {
  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 1;
  /// Bytes of block-shared memory, see `block_shared()`.
  std::uint32_t shared_bytes = 0;

  /// The smallest grid of blocks of `threads_per_block` with at least `threads` threads.
  static constexpr grid covering(std::uint64_t threads, std::uint32_t threads_per_block = 256) {
    if (threads < threads_per_block) {
      threads_per_block = threads == 0 ? 1u : static_cast<std::uint32_t>(threads);
    }
    return {static_cast<std::uint32_t>(ceil_div<std::uint64_t>(threads, threads_per_block)),
            threads_per_block};
  }
};

/// What managers and programs need to know about a machine.
struct device_properties {
  /// "cuda" or "cpu"
  std::string backend;
  std::string name;
  /// Total device memory, in bytes.
  std::size_t memory_bytes = 0;
  /// The number of multiprocessors. `sm_id()` exceeds it on some GPUs: take that modulo this.
  std::uint32_t multiprocessors = 1;
  /// The number of threads that can be resident at once, on all multiprocessors together.
  std::uint32_t resident_threads = 1;
  std::string driver;
  std::string toolkit;
};

}  // namespace simt
WARPHEAP_END_NAMESPACE
