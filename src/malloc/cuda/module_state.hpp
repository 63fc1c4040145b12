// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "malloc_heaps.hpp"

#include <atomic>
#include <cstdint>

#define WARPHEAP_HIDDEN __attribute__((visibility("hidden")))

/// The variable from which a module's device code reads the handle of the heap. Found by this name
/// in modules that are linked at run time. Hidden, so that a library's variable is not mistaken for
/// that of the executable.
extern "C" {
WARPHEAP_HIDDEN extern __device__ warpheap::malloc_ref warpheap_malloc_state;
}

WARPHEAP_BEGIN_NAMESPACE

/// Finds and fills this module's variable, of which each device has one.
class module_state {
 public:
  /// The address of the variable on the current device.
  static void* address() {
    void* address = nullptr;
    simt::runtime::check(cudaGetSymbolAddress(&address, warpheap_malloc_state),
                         "find warpheap_malloc_state");
    return address;
  }

  /// Whether the variable of a device was filled, or could not be filled, in the epoch `now`
  /// (`malloc_heaps::epoch`).
  bool is_settled(int ordinal, std::uint32_t now) const {
    // Acquire: pairs with the release of the thread that has filled it.
    return settled_[ordinal].load(std::memory_order_acquire) == now;
  }

  /// Gives the heap of device `ordinal`, the current one, to this module. \throws what
  /// `malloc_heaps::get` throws
  void settle(int ordinal) {
    malloc_heaps& heaps = malloc_heaps::of_process();
    const std::uint32_t now = heaps.epoch(ordinal);
    heaps.attach(heaps.get(ordinal, {}), address());
    // Release: another thread's launch that sees this comes after the copy.
    settled_[ordinal].store(now, std::memory_order_release);
  }

  /// Records that the variable could not be filled in the epoch `now`. False if that was already
  /// known.
  bool give_up(int ordinal, std::uint32_t now) { return settled_[ordinal].exchange(now) != now; }

 private:
  /// For each device, the epoch in which this was settled; 0 before that.
  std::atomic<std::uint32_t> settled_[malloc_heaps::most_devices] = {};
};

WARPHEAP_END_NAMESPACE
