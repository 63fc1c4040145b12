// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cpu/lane.hpp"

#include <atomic>
#include <concepts>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

namespace runtime {

constexpr std::memory_order to_std(order o) {
  switch (o) {
    case order::relaxed:
      return std::memory_order_relaxed;
    case order::acquire:
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
constexpr std::memory_order to_std_failure(order o) {
  if (o == order::release) return std::memory_order_relaxed;
  if (o == order::acq_rel) return std::memory_order_acquire;
  return to_std(o);
}

}  // namespace runtime

/// Atomic access to a word in device memory. Every operation is a switch point.
template <class T>
requires(sizeof(T) == 4 || sizeof(T) == 8) class atomic_ref {
 public:
  explicit atomic_ref(T& word) : word_(word) {}

  T load(order o) const {
    runtime::switch_point();
    return word_.load(runtime::to_std(o));
  }
  void store(T value, order o) const {
    runtime::switch_point();
    word_.store(value, runtime::to_std(o));
  }
  T exchange(T value, order o) const {
    runtime::switch_point();
    return word_.exchange(value, runtime::to_std(o));
  }
  /// True if the word held `expected` and now holds `desired`; else `expected` is what it holds.
  bool compare_exchange(T& expected, T desired, order o) const {
    runtime::switch_point();
    return word_.compare_exchange_strong(expected, desired, runtime::to_std(o),
                                         runtime::to_std_failure(o));
  }
  T fetch_add(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    return word_.fetch_add(value, runtime::to_std(o));
  }
  T fetch_sub(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    return word_.fetch_sub(value, runtime::to_std(o));
  }
  T fetch_and(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    return word_.fetch_and(value, runtime::to_std(o));
  }
  T fetch_or(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    return word_.fetch_or(value, runtime::to_std(o));
  }
  T fetch_max(T value, order o) const requires std::integral<T> {
    runtime::switch_point();
    T seen = word_.load(std::memory_order_relaxed);
    while (seen < value && !word_.compare_exchange_weak(seen, value, runtime::to_std(o),
                                                        std::memory_order_relaxed)) {
    }
    return seen;
  }

 private:
  std::atomic_ref<T> word_;
};

/// Orders this lane's accesses before the fence against those behind it.
inline void fence(order o) {
  runtime::switch_point();
#if WARPHEAP_THREAD_SANITIZER && !defined(__clang__)
  // g++'s ThreadSanitizer knows no fences. A read-modify-write of one shared word orders at least
  // as much: it can hide a race and cannot invent one.
  static std::atomic<int> stand_in{0};
  stand_in.fetch_add(0,
                     o == order::relaxed ? std::memory_order_relaxed : std::memory_order_acq_rel);
#else
  std::atomic_thread_fence(runtime::to_std(o));
#endif
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
