// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <limits>

#include "warpheap/host/cuda/device_context.hpp"
#include "warpheap/host/pools/pool_interface.hpp"

namespace warpheap::host::cuda {

/// The driver's own allocators behind the interface of a pool, so that the same program measures
/// both. Does no bookkeeping, which would be timed as well: only counts calls and failures, and
/// checks nothing.
class driver_allocator final : public pool_interface {
 public:
  enum class kind { malloc, malloc_async };

  /// `cudaMalloc`, or `cudaMallocAsync` with a pool that never gives back memory.
  driver_allocator(int ordinal, kind which) : device_(ordinal), kind_(which) {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    if (kind_ == kind::malloc_async) {
      CUmemoryPool pool = nullptr;
      d.expect(d.cuDeviceGetDefaultMemPool_ptr(&pool, device_.device()), "no stream-ordered pool");
      cuuint64_t keep = std::numeric_limits<cuuint64_t>::max();
      d.expect(d.cuMemPoolSetAttribute_ptr(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
               "the release threshold cannot be set");
    }
  }

  void* try_allocate(std::size_t bytes, std::size_t, stream_id stream) override {
    if (bytes == 0) return nullptr;
    const driver& d = driver::get();
    const device_context::scope current(device_);
    CUdeviceptr memory = 0;
    const bool got =
        d.granted(kind_ == kind::malloc ? d.cuMemAlloc_ptr(&memory, bytes)
                                        : d.cuMemAllocAsync_ptr(&memory, bytes, handle(stream)),
                  "cannot allocate device memory");
    // Relaxed: counters that order nothing.
    (got ? allocations_ : failures_).fetch_add(1, std::memory_order_relaxed);
    return got ? reinterpret_cast<void*>(memory) : nullptr;
  }

  void deallocate(void* memory, stream_id stream) override {
    if (memory == nullptr) return;
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const auto place = reinterpret_cast<CUdeviceptr>(memory);
    d.expect(kind_ == kind::malloc ? d.cuMemFree_ptr(place)
                                   : d.cuMemFreeAsync_ptr(place, handle(stream)),
             "the memory cannot be freed");
    deallocations_.fetch_add(1, std::memory_order_relaxed);
  }

  std::size_t truncate(void*, std::size_t) override {
    throw invalid_argument("the driver's allocators do not cut blocks");
  }
  std::size_t usable_bytes(void*) const override { return 0; }

  void order(stream_id earlier, stream_id later) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    CUevent event = nullptr;
    d.expect(d.cuEventCreate_ptr(&event, CU_EVENT_DISABLE_TIMING), "an event cannot be made");
    d.cuEventRecord_ptr(event, handle(earlier));
    d.cuStreamWaitEvent_ptr(handle(later), event, 0);
    d.cuEventDestroy_ptr(event);
  }

  pool_stats stats() const override {
    pool_stats stats;
    stats.allocations = allocations_.load(std::memory_order_relaxed);
    stats.deallocations = deallocations_.load(std::memory_order_relaxed);
    stats.failures = failures_.load(std::memory_order_relaxed);
    stats.blocks = stats.allocations - stats.deallocations;
    return stats;
  }

  std::size_t trim(std::size_t) override { return 0; }
  std::optional<std::string> check() const override { return std::nullopt; }
  void for_each_block(const std::function<void(extent, bool)>&) const override {}

 private:
  static CUstream handle(stream_id stream) {
    return stream == stream_id::none ? nullptr : reinterpret_cast<CUstream>(stream);
  }

  device_context device_;
  kind kind_;
  std::atomic<std::uint64_t> allocations_{0};
  std::atomic<std::uint64_t> deallocations_{0};
  std::atomic<std::uint64_t> failures_{0};
};

}  // namespace warpheap::host::cuda
