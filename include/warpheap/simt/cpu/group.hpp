// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cpu/lane.hpp"

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// A value of at most eight bytes, which lanes can pass to each other.
template <class T>
concept lane_value = std::is_trivially_copyable_v<T> && sizeof(T) <= 8;

/// Lanes of one warp that execute the same calls together. Every member function except `mask`,
/// `size`, `rank`, `leader` and `is_leader` is a collective: all members must call it.
class group {
 public:
  explicit group(lane_mask members) : members_(members) {}

  lane_mask mask() const { return members_; }
  int size() const { return members_.count(); }
  /// The number of members with a lower lane number than the caller's.
  int rank() const { return members_.below(self()).count(); }
  /// The lane number of the lowest member.
  int leader() const { return members_.lowest(); }
  bool is_leader() const { return leader() == self(); }

  /// Orders what members did before this call before what members do after it.
  void sync() const { collect(runtime::collective::sync, 0); }
  /// The members that pass true.
  lane_mask ballot(bool predicate) const {
    return lane_mask{
        static_cast<std::uint32_t>(collect(runtime::collective::ballot, predicate ? 1 : 0))};
  }
  bool any(bool predicate) const { return !ballot(predicate).empty(); }
  bool all(bool predicate) const { return ballot(predicate) == members_; }
  /// The value that lane `source` passes. \pre `source` is a member
  template <lane_value T>
  T shuffle(T value, int source) const {
    return decode<T>(collect(runtime::collective::shuffle, encode(value), source));
  }
  /// The value that the leader passes.
  template <lane_value T>
  T broadcast(T value) const {
    return shuffle(value, leader());
  }
  /// The members that pass the same value as the caller, as a group of their own.
  template <lane_value T>
  group match(T value) const {
    return group{
        lane_mask{static_cast<std::uint32_t>(collect(runtime::collective::match, encode(value)))}};
  }
  /// The sum of the values that members with a lower lane number pass.
  template <std::unsigned_integral T>
  T scan_add(T value) const {
    return static_cast<T>(collect(runtime::collective::scan_add, value));
  }
  /// The least value that a member passes.
  std::uint32_t least(std::uint32_t value) const {
    std::uint32_t found = value;
    for (lane_mask rest = members_; !rest.empty(); rest = rest.without(rest.lowest())) {
      const auto other = shuffle(value, rest.lowest());
      if (other < found) found = other;
    }
    return found;
  }

  /// The bits of all members. \pre no two members pass the same bit
  std::uint64_t merge_bits(std::uint64_t bits) const {
    return shuffle(scan_add(bits) + bits, highest_bit(members_.bits()));
  }

 private:
  static int self() { return static_cast<int>(runtime::self().number); }
  std::uint64_t collect(runtime::collective operation, std::uint64_t value, int source = 0) const {
    return runtime::collect(operation, members_, value, source);
  }
  template <class T>
  static std::uint64_t encode(T value) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const void*>(&value), sizeof(T));
    return word;
  }
  template <class T>
  static T decode(std::uint64_t word) {
    T value;
    std::memcpy(static_cast<void*>(&value), &word, sizeof(T));
    return value;
  }

  lane_mask members_;
};

/// Some lanes of the warp that execute this call together and pass the same address, such as that
/// of the state of a heap: lanes that call with different heaps get groups of their own. The set
/// contains the caller; nothing else is promised. Never inlined, so that the return address
/// identifies the call.
[[gnu::noinline]] inline group coalesced(const void* of) {
  return group{runtime::form_group(__builtin_return_address(0), of)};
}

/// All lanes of a warp. A warp of the model need not be full: those of the explorer have few lanes.
class whole_warp : public group {
 public:
  whole_warp() : group(runtime::self().warp_lanes) {}
};

/// Whether all lanes of a warp execute this call together and pass the same address. If so, each of
/// them gets true, and they are a `whole_warp`. Never inlined, like `coalesced`.
[[gnu::noinline]] inline bool is_whole_warp(const void* of) {
  return runtime::form_group(__builtin_return_address(0), of) == runtime::self().warp_lanes;
}

/// All lanes that the warp started with. \pre none of them has exited, and all call this together
inline group warp() { return group{runtime::self().warp_lanes}; }

}  // namespace simt
WARPHEAP_END_NAMESPACE
