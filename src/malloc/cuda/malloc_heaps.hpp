// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "entry.hpp"

#include "warpheap/malloc.h"
#include "warpheap/malloc/selected_heap.hpp"
#include "warpheap/malloc/settings.hpp"

#include <cuda_runtime_api.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

/// The `malloc_heaps` of the process; null until a module needs it. The only symbol that the
/// executable and libraries share: all their other code is hidden, because each of them has its own
/// kernels, registered variables and hooks. g++ makes the symbol unique, so that libraries that are
/// opened separately share it, too; link_options.txt lets an executable export its own.
extern "C" {
__attribute__((visibility("default"))) inline std::atomic<void*> warpheap_malloc_heaps{nullptr};
}

WARPHEAP_BEGIN_NAMESPACE

/// The heaps behind `malloc` in kernels: one for each device of the process, created when first
/// needed. Every module gets its handle, so one module may free what another has allocated.
///
/// There is one object per process, even if several shared libraries contain this code. It is never
/// destroyed, because kernels may run until the very end. Callers hold an `entry`.
class malloc_heaps {
 public:
  static constexpr int most_devices = 64;

  static malloc_heaps& of_process() {
    // Acquire and release: the object is complete for a thread that finds it.
    void* found = warpheap_malloc_heaps.load(std::memory_order_acquire);
    if (found == nullptr) {
      auto made = std::make_unique<malloc_heaps>();
      if (warpheap_malloc_heaps.compare_exchange_strong(found, made.get(),
                                                        std::memory_order_acq_rel)) {
        found = made.release();
      }
    }
    return *static_cast<malloc_heaps*>(found);
  }

  /// The heap of a device; created with `wish` if there is none.
  /// \throws what `selected_heap` and `read_malloc_settings` throw
  const selected_heap& get(int ordinal, const malloc_settings& wish) {
    const std::lock_guard lock(mutex_);
    return find_or_make(ordinal, wish);
  }

  /// Like `get`. \throws invalid_argument also if the device already has a heap
  void make(int ordinal, const malloc_settings& wish) {
    const std::lock_guard lock(mutex_);
    if (const auto& there = heaps_[ordinal]) {
      throw invalid_argument("device " + std::to_string(ordinal) + " has its heap of " +
                             std::to_string(there->bytes()) +
                             " bytes already: choose before its first kernel");
    }
    find_or_make(ordinal, wish);
  }

  /// Writes the handle of a heap to a module's variable, which is at the device address `state`.
  void attach(const selected_heap& heap, void* state) const {
    const malloc_ref ref = heap.ref();
    heap.on().copy_to_device(state, &ref, sizeof ref);
  }

  /// Frees the heap of a device that is about to be reset, which also clears every module's
  /// variable.
  void forget(int ordinal) {
    const std::lock_guard lock(mutex_);
    heaps_[ordinal].reset();
    // Release: pairs with the load in `epoch`, after which a module attaches itself again.
    epochs_[ordinal].fetch_add(1, std::memory_order_release);
  }

  /// Changes with each reset of the device; never 0. Modules that attached before a reset must
  /// attach again.
  std::uint32_t epoch(int ordinal) const {
    return 1 + epochs_[ordinal].load(std::memory_order_acquire);
  }

  void fill(int ordinal, warpheap_malloc_statistics& result) {
    const std::lock_guard lock(mutex_);
    const auto& heap = heaps_[ordinal];
    if (!heap) return;
    // The heap only waits for its own queue.
    simt::runtime::check(cudaDeviceSynchronize(), "wait for the device");
    const heap_stats now = heap->stats();
    result.heap_bytes = now.heap_bytes;
    result.largest_block = heap->largest_block();
    result.blocks_in_use = now.blocks_in_use;
    result.bytes_in_use = now.bytes_in_use;
    result.failures = now.failures;
    result.impossible = now.impossible;
  }

 private:
  const selected_heap& find_or_make(int ordinal, const malloc_settings& wish) {
    auto& heap = heaps_[ordinal];
    if (heap) return *heap;
    malloc_settings chosen =
        read_malloc_settings([](const char* name) { return std::getenv(name); });
    if (wish.bytes != 0) chosen.bytes = wish.bytes;
    if (!wish.manager.empty()) chosen.manager = wish.manager;
    const device on = device::cuda(ordinal);
    if (chosen.bytes == 0) chosen.bytes = default_bytes();
    heap.emplace(on.queue(), chosen.bytes, chosen.manager);
    if (chosen.report) announce(ordinal, *heap);
    return *heap;
  }

  static std::size_t default_bytes() {
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    std::size_t builtin_bytes = 0;
    simt::runtime::check(cudaMemGetInfo(&free_bytes, &all_bytes), "ask for the free memory");
    simt::runtime::check(cudaDeviceGetLimit(&builtin_bytes, cudaLimitMallocHeapSize),
                         "ask for the size of CUDA's heap");
    return default_malloc_bytes(free_bytes, builtin_bytes);
  }

  static void announce(int ordinal, const selected_heap& heap) {
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    cudaMemGetInfo(&free_bytes, &all_bytes);
    std::fprintf(stderr,
                 "warpheap: malloc in kernels of device %d (%s): heap of %zu bytes, manager %s, "
                 "largest block %zu; %zu of %zu bytes are still free\n",
                 ordinal, heap.on().properties().name.c_str(), heap.bytes(),
                 std::string(heap.manager()).c_str(), heap.largest_block(), free_bytes, all_bytes);
    // Registered after CUDA's own handler, hence called before it.
    static const int registered = std::atexit([] { of_process().report(); });
    static_cast<void>(registered);
  }

  void report() {
    const entry mark;
    for (int ordinal = 0; ordinal < most_devices; ++ordinal) {
      if (!heaps_[ordinal]) continue;
      try {
        simt::runtime::check(cudaSetDevice(ordinal), "select the device");
        warpheap_malloc_statistics now = {};
        fill(ordinal, now);
        std::fprintf(stderr,
                     "warpheap: device %d at exit: %llu blocks of %llu bytes in use; %llu requests "
                     "found the heap exhausted, %llu were larger than its largest block\n",
                     ordinal, static_cast<unsigned long long>(now.blocks_in_use),
                     static_cast<unsigned long long>(now.bytes_in_use),
                     static_cast<unsigned long long>(now.failures),
                     static_cast<unsigned long long>(now.impossible));
      } catch (const error& failed) {
        std::fprintf(stderr, "warpheap: device %d at exit: %s\n", ordinal, failed.what());
      }
    }
  }

  std::mutex mutex_;
  std::array<std::optional<selected_heap>, most_devices> heaps_;
  std::array<std::atomic<std::uint32_t>, most_devices> epochs_{};
};

WARPHEAP_END_NAMESPACE
