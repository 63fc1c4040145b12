// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cuda/identity.hpp"
#include "warpheap/simt/lane_mask.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// A value of at most eight bytes, which lanes can pass to each other.
template <class T>
concept lane_value = std::is_trivially_copyable_v<T> && sizeof(T) <= 8;

/// Members that are only known at run time.
class some_lanes {
 public:
  WARPHEAP_DEVICE explicit some_lanes(lane_mask members) : members_(own_copy(members)) {}
  WARPHEAP_DEVICE lane_mask mask() const { return members_; }

 private:
  /// Hides from the compiler where a mask comes from. ptxas 13.0 assumes that the result of
  /// activemask (and whatever is computed from it) is the same in all lanes that run together, and
  /// lets a collective proceed once the first lane's mask is complete. But two groups that formed
  /// separately may run together later: then the members of one proceeded without their leader, and
  /// did not get its value. Adding the caller's own bit, which the mask has anyway, makes the mask
  /// a value of each lane.
  WARPHEAP_DEVICE static lane_mask own_copy(lane_mask members) {
    std::uint32_t own;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(own));
    return lane_mask{members.bits() | own};
  }

  lane_mask members_;
};

/// Members that the compiler knows: all lanes of a full warp. It need not check before each
/// collective that lanes with the same mask have arrived.
struct all_lanes {
  WARPHEAP_DEVICE static constexpr lane_mask mask() { return lane_mask::first(warp_size); }
};

/// Lanes of one warp that execute the same calls together. Every member function except `mask`,
/// `size`, `rank`, `leader` and `is_leader` is a collective: all members must call it.
template <class Members>
class basic_group {
 public:
  basic_group() = default;
  /// \pre exactly the members, including the caller, execute this with the same set
  WARPHEAP_DEVICE explicit basic_group(
      lane_mask members) requires std::constructible_from<Members, lane_mask> : members_(members) {}

  WARPHEAP_DEVICE lane_mask mask() const { return members_.mask(); }
  WARPHEAP_DEVICE int size() const { return mask().count(); }
  /// The number of members with a lower lane number than the caller's.
  WARPHEAP_DEVICE int rank() const { return popcount(mask().bits() & lanes_below()); }
  /// The lane number of the lowest member.
  WARPHEAP_DEVICE int leader() const { return mask().lowest(); }
  WARPHEAP_DEVICE bool is_leader() const { return leader() == lane_id(); }

  /// Orders what members did before this call before what members do after it.
  WARPHEAP_DEVICE void sync() const { __syncwarp(mask().bits()); }
  /// The members that pass true.
  WARPHEAP_DEVICE lane_mask ballot(bool predicate) const {
    return lane_mask{__ballot_sync(mask().bits(), predicate)};
  }
  WARPHEAP_DEVICE bool any(bool predicate) const {
    return __any_sync(mask().bits(), predicate) != 0;
  }
  WARPHEAP_DEVICE bool all(bool predicate) const {
    return __all_sync(mask().bits(), predicate) != 0;
  }
  /// The value that lane `source` passes. \pre `source` is a member
  template <lane_value T>
  WARPHEAP_DEVICE T shuffle(T value, int source) const {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(shuffle(reinterpret_cast<std::uintptr_t>(value), source));
    } else {
      return __shfl_sync(mask().bits(), value, source);
    }
  }
  /// The value that the leader passes.
  template <lane_value T>
  WARPHEAP_DEVICE T broadcast(T value) const {
    return shuffle(value, leader());
  }
  /// The members that pass the same value as the caller, as a group of their own.
  template <lane_value T>
  WARPHEAP_DEVICE basic_group<some_lanes> match(T value) const {
    if constexpr (std::is_pointer_v<T>) {
      return match(reinterpret_cast<std::uintptr_t>(value));
    } else {
      return basic_group<some_lanes>{lane_mask{__match_any_sync(mask().bits(), value)}};
    }
  }
  /// The sum of the values that members with a lower lane number pass.
  template <class T>
  WARPHEAP_DEVICE T scan_add(T value) const {
    return mask() == lane_mask::first(warp_size) ? scan_full(value) : scan_part(value);
  }

  /// The least value that a member passes.
  WARPHEAP_DEVICE std::uint32_t least(std::uint32_t value) const {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(mask().bits(), value);
#else
    std::uint32_t found = value;
    for (lane_mask rest = mask(); !rest.empty(); rest = rest.without(rest.lowest())) {
      const std::uint32_t theirs = shuffle(value, rest.lowest());
      found = theirs < found ? theirs : found;
    }
    return found;
#endif
  }

  /// The bits of all members. \pre no two members pass the same bit
  WARPHEAP_DEVICE std::uint64_t merge_bits(std::uint64_t bits) const {
#if __CUDA_ARCH__ >= 800
    const auto low = __reduce_or_sync(mask().bits(), static_cast<std::uint32_t>(bits));
    const auto high = __reduce_or_sync(mask().bits(), static_cast<std::uint32_t>(bits >> 32));
    return std::uint64_t{high} << 32 | low;
#else
    return shuffle(scan_add(bits) + bits, highest_bit(mask().bits()));
#endif
  }

 private:
  template <class T>
  WARPHEAP_DEVICE T scan_full(T value) const {
    T sum = value;
    for (int step = 1; step < warp_size; step *= 2) {
      const T theirs = __shfl_up_sync(mask().bits(), sum, step);
      if (lane_id() >= step) sum += theirs;
    }
    return sum - value;
  }

  /// Pointer jumping towards lower lanes: after step i, `sum` covers the 2^i members before this
  /// one, and `before` is the lane at which they end. Five steps, whatever the mask.
  template <class T>
  WARPHEAP_DEVICE T scan_part(T value) const {
    const std::uint32_t lower = mask().bits() & lanes_below();
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

  Members members_;
};

using group = basic_group<some_lanes>;
using whole_warp = basic_group<all_lanes>;

/// Some lanes of the warp that execute this call together and pass the same address, such as that
/// of the state of a heap: lanes that call with different heaps get groups of their own. The set
/// contains the caller; nothing else is promised.
WARPHEAP_DEVICE inline group coalesced(const void* of) {
  const group here{lane_mask{__activemask()}};
  // Matching is fast if nearly all values are equal. By halves and without a branch: a fast path
  // for lanes that all pass the same address cost functions of the default manager registers.
  const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(of)};
  const lane_mask low = here.match(static_cast<std::uint32_t>(address)).mask();
  const lane_mask high = here.match(static_cast<std::uint32_t>(address >> 32)).mask();
  return group{low & high};
}

/// Whether all lanes of a full warp execute this call together and pass the same address. If so,
/// each of them gets true, and they are a `whole_warp`.
WARPHEAP_DEVICE inline bool is_whole_warp(const void* of) {
  if (lane_mask{__activemask()} != all_lanes::mask()) return false;
  const whole_warp all;
  return all.all(all.broadcast(of) == of);
}

/// All lanes that the warp started with. \pre none of them has exited, and all call this together
WARPHEAP_DEVICE inline group warp() {
  const std::uint32_t first = thread_in_block() / warp_size * warp_size;
  const std::uint32_t rest = block_size() - first;
  return group{lane_mask::first(rest < warp_size ? static_cast<int>(rest) : warp_size)};
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
