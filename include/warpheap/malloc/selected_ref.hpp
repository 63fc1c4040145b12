// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/handle.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

/// The handle of a heap of one of several managers. All zeros, as a variable in device memory is
/// before it is written to, it refers to no heap: then every malloc returns null and is
/// counted, and every free is ignored.
template <block_manager... Managers>
class selected_ref {
 public:
  /// No heap, if the object is zero-initialised, as variables in device memory are.
  selected_ref() = default;

  template <block_manager M>
  requires(std::same_as<M, Managers> || ...) explicit selected_ref(const handle<M>& of)
      : unserved_(0), number_(number_of<M>()) {
    static_assert(std::is_trivially_copyable_v<handle<M>>);
    std::memcpy(handle_, &of, sizeof of);
  }

  /// As `handle::malloc`.
  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    void* block = nullptr;
    const bool served =
        ((number_ == number_of<Managers>() && (block = as<Managers>().malloc(bytes), true)) || ...);
    if (!served && bytes != 0) count_unserved();
    return block;
  }

  /// As `handle::free`. A pointer that lies outside the heap is ignored.
  WARPHEAP_DEVICE void free(void* block) const {
    static_cast<void>(
        ((number_ == number_of<Managers>() && (as<Managers>().free(block), true)) || ...));
  }

  /// Requests that found no heap.
  WARPHEAP_HD std::uint64_t unserved() const { return unserved_; }

 private:
  template <class M>
  WARPHEAP_HD static constexpr std::uint32_t number_of() {
    std::uint32_t number = 0;
    bool found = false;
    ((found = found || std::is_same_v<M, Managers>, number += found ? 0 : 1), ...);
    return number + 1;
  }

  template <class M>
  WARPHEAP_DEVICE const handle<M>& as() const {
    return *reinterpret_cast<const handle<M>*>(handle_);
  }

  /// Relaxed: a counter that the host reads after the kernel.
  WARPHEAP_DEVICE void count_unserved() const {
    const simt::group together = simt::coalesced(&unserved_);
    if (!together.is_leader()) return;
    simt::atomic_ref(unserved_).fetch_add(static_cast<std::uint64_t>(together.size()),
                                          simt::order::relaxed);
  }

  static constexpr std::size_t room = [] {
    std::size_t largest = 0;
    ((largest = sizeof(handle<Managers>) > largest ? sizeof(handle<Managers>) : largest), ...);
    return largest;
  }();

  mutable std::uint64_t unserved_;
  std::uint32_t number_;
  alignas(16) std::byte handle_[room];
};

WARPHEAP_END_NAMESPACE
