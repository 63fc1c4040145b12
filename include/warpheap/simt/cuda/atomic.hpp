// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/types.hpp"

#include <cuda/atomic>
#include <cuda/std/concepts>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

namespace runtime {

WARPHEAP_HD constexpr ::cuda::std::memory_order to_std(order o) {
  switch (o) {
    case order::relaxed:
      return ::cuda::std::memory_order_relaxed;
    case order::acquire:
      return ::cuda::std::memory_order_acquire;
    case order::release:
      return ::cuda::std::memory_order_release;
    case order::acq_rel:
      return ::cuda::std::memory_order_acq_rel;
    case order::seq_cst:
      break;
  }
  return ::cuda::std::memory_order_seq_cst;
}

/// The order of the load in a compare-exchange that fails.
WARPHEAP_HD constexpr ::cuda::std::memory_order to_std_failure(order o) {
  if (o == order::release) return ::cuda::std::memory_order_relaxed;
  if (o == order::acq_rel) return ::cuda::std::memory_order_acquire;
  return to_std(o);
}

}  // namespace runtime

/// Atomic access to a word in device memory, at device scope.
template <class T>
requires(sizeof(T) == 4 || sizeof(T) == 8) class atomic_ref {
 public:
  WARPHEAP_DEVICE explicit atomic_ref(T& word) : word_(word) {}

  WARPHEAP_DEVICE T load(order o) const { return word_.load(runtime::to_std(o)); }
  WARPHEAP_DEVICE void store(T value, order o) const { word_.store(value, runtime::to_std(o)); }
  WARPHEAP_DEVICE T exchange(T value, order o) const {
    return word_.exchange(value, runtime::to_std(o));
  }
  /// True if the word held `expected` and now holds `desired`; else `expected` is what it holds.
  WARPHEAP_DEVICE bool compare_exchange(T& expected, T desired, order o) const {
    return word_.compare_exchange_strong(expected, desired, runtime::to_std(o),
                                         runtime::to_std_failure(o));
  }
  WARPHEAP_DEVICE T fetch_add(T value, order o) const requires ::cuda::std::integral<T> {
    return word_.fetch_add(value, runtime::to_std(o));
  }
  WARPHEAP_DEVICE T fetch_sub(T value, order o) const requires ::cuda::std::integral<T> {
    return word_.fetch_sub(value, runtime::to_std(o));
  }
  WARPHEAP_DEVICE T fetch_and(T value, order o) const requires ::cuda::std::integral<T> {
    return word_.fetch_and(value, runtime::to_std(o));
  }
  WARPHEAP_DEVICE T fetch_or(T value, order o) const requires ::cuda::std::integral<T> {
    return word_.fetch_or(value, runtime::to_std(o));
  }
  WARPHEAP_DEVICE T fetch_max(T value, order o) const requires ::cuda::std::integral<T> {
    return word_.fetch_max(value, runtime::to_std(o));
  }

 private:
  ::cuda::atomic_ref<T, ::cuda::thread_scope_device> word_;
};

/// Orders this lane's accesses before the fence against those behind it, at device scope.
WARPHEAP_DEVICE inline void fence(order o) {
  ::cuda::atomic_thread_fence(runtime::to_std(o), ::cuda::thread_scope_device);
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
