// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <concepts>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

/// What one member of a group learns about the values that all members pass: one lane can then act
/// for all of them, and each finds its share of the result.
template <std::unsigned_integral T>
struct group_sum {
  /// The sum of the members with a lower lane number.
  T before;
  /// The sum of all members.
  T total;
};

/// The sums of `value` over `members`. A collective: all members must call it.
template <std::unsigned_integral T>
WARPHEAP_DEVICE group_sum<T> sum_over(const simt::group& members, T value) {
  const T before = members.scan_add(value);
  // The highest member's sum is the whole group's.
  return {before,
          members.shuffle(static_cast<T>(before + value), highest_bit(members.mask().bits()))};
}

/// Adds what all members pass to `*sum`, by one addition. A collective: all members must call it.
/// Relaxed: the sum is read after the launch.
template <std::unsigned_integral T>
WARPHEAP_DEVICE void add_up(const simt::group& members, T* sum, T value) {
  const T total = sum_over(members, value).total;
  if (members.is_leader() && total != 0) {
    simt::atomic_ref(*sum).fetch_add(total, simt::order::relaxed);
  }
}

}  // namespace sync
WARPHEAP_END_NAMESPACE
