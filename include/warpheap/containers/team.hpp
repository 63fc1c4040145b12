// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <concepts>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace containers {

/// Lanes that change a container together: a `simt::group`, or `lane_alone`.
///
/// The container is one object in memory that all members see; the leader writes it, and every
/// collective ends with a `sync`. A container in a lane's own variables is for that lane alone.
template <class G>
concept team = requires(const G members, bool flag, int* pointer) {
  { members.rank() } -> std::same_as<int>;
  { members.size() } -> std::same_as<int>;
  { members.is_leader() } -> std::same_as<bool>;
  { members.any(flag) } -> std::same_as<bool>;
  { members.broadcast(pointer) } -> std::same_as<int*>;
  members.sync();
};

/// The team of one lane: it never waits, and costs nothing.
struct lane_alone {
  WARPHEAP_DEVICE int rank() const { return 0; }
  WARPHEAP_DEVICE int size() const { return 1; }
  WARPHEAP_DEVICE bool is_leader() const { return true; }
  WARPHEAP_DEVICE bool any(bool predicate) const { return predicate; }
  template <class T>
  WARPHEAP_DEVICE T broadcast(T value) const {
    return value;
  }
  WARPHEAP_DEVICE void sync() const {}
};

/// `sync::sum_over` for teams. A collective.
template <std::unsigned_integral T>
WARPHEAP_DEVICE sync::group_sum<T> sum_over(const simt::group& members, T value) {
  return sync::sum_over(members, value);
}
/// A lane alone: 0 comes before it, and its own value is the total.
template <std::unsigned_integral T>
WARPHEAP_DEVICE sync::group_sum<T> sum_over(const lane_alone& /*me*/, T value) {
  return {0, value};
}

/// What the leader's `malloc` returns, for all members. A collective.
template <team Team, class Heap>
WARPHEAP_DEVICE void* malloc_for(const Team& members, const Heap& heap, std::size_t bytes) {
  void* block = nullptr;
  if (members.is_leader()) block = heap.malloc(bytes);
  // A broadcast orders nothing: what the block's last owner did comes before what the members do.
  members.sync();
  return members.broadcast(block);
}

}  // namespace containers
WARPHEAP_END_NAMESPACE
