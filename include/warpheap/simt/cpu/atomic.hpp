// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/assert.hpp"
#include "warpheap/simt/cpu/lane.hpp"

#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

namespace runtime {

constexpr std::memory_order to_std(order o) {
  switch (o) {
    case order::relaxed:
      return std::memory_order_relaxed;
    case order::acquire:
    case order::acquire_but_hints:
      return std::memory_order_acquire;
    case order::release:
      return std::memory_order_release;
    case order::acq_rel:
      return std::memory_order_acq_rel;
    case order::seq_cst:
      break;
  }
  return std::memory_order_seq_cst;
}

/// The order of the load in a compare-exchange that fails.
constexpr order on_failure(order o) {
  if (o == order::release) return order::relaxed;
  if (o == order::acq_rel) return order::acquire;
  return o;
}

}  // namespace runtime

/// Atomic access to a word in device memory. Every operation is a switch point of the explorer, in
/// whose schedules memory may be weak (see explorer.hpp).
template <class T>
requires(sizeof(T) == 4 || sizeof(T) == 8) class atomic_ref {
 public:
  explicit atomic_ref(T& word) : at_(&word) {}

  T load(order o) const {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return from_bits(runtime::weak_load(at_, sizeof(T), o));
    return word().load(runtime::to_std(o));
  }
  /// For `load_hint`.
  T hint() const {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return from_bits(runtime::weak_hint(at_, sizeof(T)));
    return word().load(std::memory_order_relaxed);
  }
  void store(T value, order o) const {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return runtime::weak_store(at_, sizeof(T), to_bits(value), o);
    word().store(value, runtime::to_std(o));
  }
  T exchange(T value, order o) const {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return weak_update(value, o);
    return word().exchange(value, runtime::to_std(o));
  }
  /// True if the word held `expected` and now holds `desired`; else `expected` is what it holds.
  bool compare_exchange(T& expected, T desired, order o) const {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return weak_compare_exchange(expected, desired, o);
    return word().compare_exchange_strong(expected, desired, runtime::to_std(o),
                                          runtime::to_std(runtime::on_failure(o)));
  }
  T fetch_add(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    if (runtime::memory_is_weak()) {
      return weak_update(from_bits(to_bits(*at_) + to_bits(value)), o);
    }
    return word().fetch_add(value, runtime::to_std(o));
  }
  T fetch_sub(T value, order o) const requires std::integral<T> {
    return fetch_add(from_bits(0 - to_bits(value)), o);
  }
  T fetch_and(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return weak_update(*at_ & value, o);
    return word().fetch_and(value, runtime::to_std(o));
  }
  T fetch_or(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return weak_update(*at_ | value, o);
    return word().fetch_or(value, runtime::to_std(o));
  }
  T fetch_max(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    if (runtime::memory_is_weak()) return weak_update(*at_ < value ? value : *at_, o);
    T seen = word().load(std::memory_order_relaxed);
    while (seen < value && !word().compare_exchange_weak(seen, value, runtime::to_std(o),
                                                         std::memory_order_relaxed)) {
    }
    return seen;
  }

 private:
  std::atomic_ref<T> word() const { return std::atomic_ref<T>(*at_); }

  // In weak memory. A read-modify-write reads what is in memory, and only one lane runs at a time,
  // so plain accesses suffice.

  T weak_update(T value, order o) const {
    const T before = *at_;
    runtime::weak_update(at_, sizeof(T), to_bits(value), o);
    return before;
  }
  bool weak_compare_exchange(T& expected, T desired, order o) const {
    if (to_bits(*at_) == to_bits(expected)) {
      weak_update(desired, o);
      return true;
    }
    runtime::weak_load_newest(at_, sizeof(T), runtime::on_failure(o));
    expected = *at_;
    return false;
  }

  static std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  static T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  T* at_;
};

/// Atomic access to a word in block-shared memory, for lanes of the block; relaxed, as on CUDA. A
/// word that lanes of other blocks can reach would need the scope of the device: a finding in the
/// explorer, and elsewhere a precondition.
template <class T>
requires(sizeof(T) == 4 || sizeof(T) == 8) && std::unsigned_integral<T> class block_atomic_ref {
 public:
  explicit block_atomic_ref(T& word) : word_(word) {
    if (runtime::is_block_shared(&word)) return;
    runtime::misuse("an atomic of block scope on a word outside block-shared memory");
    WARPHEAP_ASSERT(runtime::is_block_shared(&word));
  }

  T exchange(T value, order /*relaxed*/) const { return word_.exchange(value, order::relaxed); }
  /// True if the word held `expected` and now holds `desired`; else `expected` is what it holds.
  bool compare_exchange(T& expected, T desired, order /*relaxed*/) const {
    return word_.compare_exchange(expected, desired, order::relaxed);
  }
  T fetch_add(T value, order /*relaxed*/) const { return word_.fetch_add(value, order::relaxed); }
  T fetch_max(T value, order /*relaxed*/) const { return word_.fetch_max(value, order::relaxed); }

 private:
  atomic_ref<T> word_;
};

/// Acquire, for a lane that writes to what it has acquired before it reads it. Relaxed on CUDA, so
/// what the multiprocessor's cache holds stays there, for hints to find.
inline constexpr order acquire_to_write = order::acquire_but_hints;

/// Release, for stores of a lane that has passed `fence(order::release)`. ThreadSanitizer does not
/// support fences, so for it the stores release themselves.
inline constexpr order release_by_fence =
    WARPHEAP_THREAD_SANITIZER ? order::release : order::relaxed;

/// Reads a word that others may change, as a hint. On CUDA, where the value comes from the
/// multiprocessor's cache, it may be old for as long as the kernel runs, but not older than what
/// the lane itself has stored, or had seen at its last acquire. In weak memory it may be as old.
template <class T>
T load_hint(T& word) {
  return atomic_ref<T>(word).hint();
}

/// The same for four words that lie together. They need not be of one moment.
template <class T>
requires(sizeof(T) == 16 && alignof(T) >= 16) T load_hints(T& words) {
  auto* const first = reinterpret_cast<std::uint32_t*>(&words);
  const std::array<std::uint32_t, 4> values{load_hint(first[0]), load_hint(first[1]),
                                            load_hint(first[2]), load_hint(first[3])};
  T all;
  std::memcpy(&all, &values, sizeof all);
  return all;
}

/// Orders this lane's accesses before the fence against those after it.
inline void fence(order o) {
  runtime::switch_point();
  if (runtime::memory_is_weak()) return runtime::weak_fence(o);
#if WARPHEAP_THREAD_SANITIZER
  // ThreadSanitizer does not support fences. A read-modify-write of one shared word orders all
  // lanes that pass a fence, which can hide a race. It does not order a fence after a release that
  // the lane has read relaxed: there, an acquire load means the same, and ThreadSanitizer sees it.
  static std::atomic<int> stand_in{0};
  stand_in.fetch_add(0,
                     o == order::relaxed ? std::memory_order_relaxed : std::memory_order_acq_rel);
#else
  std::atomic_thread_fence(runtime::to_std(o));
#endif
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
