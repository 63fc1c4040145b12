// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cuda/identity.hpp"
#include "warpheap/simt/types.hpp"

#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// A value of at most eight bytes that lanes can hand to each other.
template <class T>
concept lane_value = std::is_trivially_copyable_v<T> && sizeof(T) <= 8;

/// Lanes of one warp that execute the same calls together. Every member function but `mask`,
/// `size`, `rank`, `leader` and `is_leader` is a collective: all members must call it.
class group {
 public:
  /// \pre the members, the caller among them, and nobody else execute this with the same set
  WARPHEAP_DEVICE explicit group(lane_mask members) : members_(own_copy(members)) {}

  WARPHEAP_DEVICE lane_mask mask() const { return members_; }
  WARPHEAP_DEVICE int size() const { return members_.count(); }
  /// How many members have a lower lane number than the caller.
  WARPHEAP_DEVICE int rank() const { return popcount(members_.bits() & lanes_below()); }
  /// The lane number of the lowest member.
  WARPHEAP_DEVICE int leader() const { return members_.lowest(); }
  WARPHEAP_DEVICE bool is_leader() const { return leader() == lane_id(); }

  /// Makes what members wrote before visible to members after.
  WARPHEAP_DEVICE void sync() const { __syncwarp(members_.bits()); }
  /// The members that pass true.
  WARPHEAP_DEVICE lane_mask ballot(bool predicate) const {
    return lane_mask{__ballot_sync(members_.bits(), predicate)};
  }
  WARPHEAP_DEVICE bool any(bool predicate) const {
    return __any_sync(members_.bits(), predicate) != 0;
  }
  WARPHEAP_DEVICE bool all(bool predicate) const {
    return __all_sync(members_.bits(), predicate) != 0;
  }
  /// The value that lane `source` passes. \pre `source` is a member
  template <lane_value T>
  WARPHEAP_DEVICE T shuffle(T value, int source) const {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(shuffle(reinterpret_cast<std::uintptr_t>(value), source));
    } else {
      return __shfl_sync(members_.bits(), value, source);
    }
  }
  /// The value that the leader passes.
  template <lane_value T>
  WARPHEAP_DEVICE T broadcast(T value) const {
    return shuffle(value, leader());
  }
  /// The members that pass the same value as the caller, as a group of their own.
  template <lane_value T>
  WARPHEAP_DEVICE group match(T value) const {
    if constexpr (std::is_pointer_v<T>) {
      return match(reinterpret_cast<std::uintptr_t>(value));
    } else {
      return group{lane_mask{__match_any_sync(members_.bits(), value)}};
    }
  }
  /// The sum of the values that members with a lower lane number pass.
  template <class T>
  WARPHEAP_DEVICE T scan_add(T value) const {
    return members_ == lane_mask::first(warp_size) ? scan_full(value) : scan_part(value);
  }

  /// The bits of all members. \pre no two members pass the same bit
  WARPHEAP_DEVICE std::uint64_t merge_bits(std::uint64_t bits) const {
#if __CUDA_ARCH__ >= 800
    const auto low = __reduce_or_sync(members_.bits(), static_cast<std::uint32_t>(bits));
    const auto high = __reduce_or_sync(members_.bits(), static_cast<std::uint32_t>(bits >> 32));
    return std::uint64_t{high} << 32 | low;
#else
    return shuffle(scan_add(bits) + bits, highest_bit(members_.bits()));
#endif
  }

 private:
  /// Hides from the compiler where a mask comes from. ptxas 13.0 takes the result of activemask
  /// (and what is computed from it) for the same in all lanes that run together, and lets a
  /// collective go ahead once the first lane's mask is complete. But two groups that were formed
  /// apart can run together later: then the members of one went ahead without their leader, and
  /// read nothing for what it had to say. The caller's own bit, which the mask has anyway, makes it
  /// a value of each lane.
  WARPHEAP_DEVICE static lane_mask own_copy(lane_mask members) {
    std::uint32_t own;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(own));
    return lane_mask{members.bits() | own};
  }

  template <class T>
  WARPHEAP_DEVICE T scan_full(T value) const {
    T sum = value;
    for (int step = 1; step < warp_size; step *= 2) {
      const T theirs = __shfl_up_sync(members_.bits(), sum, step);
      if (lane_id() >= step) sum += theirs;
    }
    return sum - value;
  }

  /// Pointer jumping towards lower lanes: after step i, `sum` covers the 2^i members before this
  /// one, and `before` is the lane that they end at. Five steps, whatever the mask.
  template <class T>
  WARPHEAP_DEVICE T scan_part(T value) const {
    const std::uint32_t lower = members_.bits() & lanes_below();
    int before = lower == 0 ? -1 : highest_bit(lower);
    T sum = 0;
    T covered = value;  // of this lane and the members that `sum` covers
    for (int step = 1; step < warp_size; step *= 2) {
      const int source = before < 0 ? lane_id() : before;
      const T theirs = shuffle(covered, source);
      const int further = shuffle(before, source);
      if (before >= 0) {
        sum += theirs;
        covered += theirs;
        before = further;
      }
    }
    return sum;
  }

  WARPHEAP_DEVICE static std::uint32_t lanes_below() {
    std::uint32_t mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
  }

  lane_mask members_;
};

/// Some lanes of the warp that execute this call together: a set that contains the caller, and no
/// promise beyond that.
WARPHEAP_DEVICE inline group coalesced() { return group{lane_mask{__activemask()}}; }

/// All lanes that the warp was started with. \pre none of them has exited or is elsewhere
WARPHEAP_DEVICE inline group warp() {
  const std::uint32_t first = thread_in_block() / warp_size * warp_size;
  const std::uint32_t rest = block_size() - first;
  return group{lane_mask::first(rest < warp_size ? static_cast<int>(rest) : warp_size)};
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
