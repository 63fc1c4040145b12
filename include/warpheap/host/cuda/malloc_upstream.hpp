// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string_view>

#include "warpheap/host/cuda/device_context.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host::cuda {

/// Device memory from `cudaMalloc`.
class malloc_upstream final : public upstream {
 public:
  explicit malloc_upstream(int ordinal) : device_(ordinal) {}

  void* allocate(std::size_t bytes) override {
    const device_context::scope current(device_);
    CUdeviceptr memory = 0;
    const driver& d = driver::get();
    const bool got = d.granted(d.cuMemAlloc_ptr(&memory, bytes), "cannot allocate device memory");
    return got ? reinterpret_cast<void*>(memory) : nullptr;
  }
  void deallocate(void* memory, std::size_t) noexcept override {
    const device_context::scope current(device_);
    driver::get().cuMemFree_ptr(reinterpret_cast<CUdeviceptr>(memory));
  }
  std::string_view name() const override { return "cuda_malloc"; }

 private:
  device_context device_;
};

/// Device memory of the driver's stream-ordered pool, from `cudaMallocAsync`. Every stream may use
/// a region immediately: the call waits for the memory.
class malloc_async_upstream final : public upstream {
 public:
  explicit malloc_async_upstream(int ordinal) : device_(ordinal) {}

  void* allocate(std::size_t bytes) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    CUdeviceptr memory = 0;
    if (!d.granted(d.cuMemAllocAsync_ptr(&memory, bytes, nullptr),
                   "cannot allocate memory of the driver's pool")) {
      return nullptr;
    }
    const CUresult waited = d.cuStreamSynchronize_ptr(nullptr);
    if (waited != CUDA_SUCCESS) d.cuMemFreeAsync_ptr(memory, nullptr);
    d.expect(waited, "cannot wait for memory of the driver's pool");
    return reinterpret_cast<void*>(memory);
  }
  void deallocate(void* memory, std::size_t) noexcept override {
    const device_context::scope current(device_);
    driver::get().cuMemFreeAsync_ptr(reinterpret_cast<CUdeviceptr>(memory), nullptr);
  }
  std::string_view name() const override { return "cuda_malloc_async"; }

 private:
  device_context device_;
};

}  // namespace warpheap::host::cuda
