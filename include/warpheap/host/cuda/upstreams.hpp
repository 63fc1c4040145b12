// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "warpheap/host/cuda/driver.hpp"
#include "warpheap/host/upstream.hpp"

namespace warpheap::host::cuda {

/// Device memory as `cudaMalloc` gives it.
class malloc_upstream final : public upstream {
 public:
  explicit malloc_upstream(int ordinal) : device_(ordinal) {}

  void* allocate(std::size_t bytes) override {
    const device_context::scope current(device_);
    CUdeviceptr memory = 0;
    const bool got = driver::get().cuMemAlloc_ptr(&memory, bytes) == CUDA_SUCCESS;
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

/// Device memory of the driver's own stream-ordered pool, as `cudaMallocAsync` gives it. Regions
/// are usable by every stream at once: the call waits for the memory.
class malloc_async_upstream final : public upstream {
 public:
  explicit malloc_async_upstream(int ordinal) : device_(ordinal) {}

  void* allocate(std::size_t bytes) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    CUdeviceptr memory = 0;
    if (d.cuMemAllocAsync_ptr(&memory, bytes, nullptr) != CUDA_SUCCESS) return nullptr;
    d.cuStreamSynchronize_ptr(nullptr);
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

/// Device memory mapped into addresses that were reserved for it, by the driver's virtual memory
/// functions. Freeing a region gives its physical memory back without the device-wide wait of
/// `cudaFree`.
class virtual_memory_upstream final : public upstream {
 public:
  explicit virtual_memory_upstream(int ordinal) : device_(ordinal) {
    const driver& d = driver::get();
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = ordinal;
    d.expect(d.cuMemGetAllocationGranularity_ptr(&granularity_, &properties_,
                                                 CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
             "the device has no virtual memory functions");
  }

  void* allocate(std::size_t bytes) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const std::size_t whole = round(bytes);
    CUdeviceptr place = 0;
    CUmemGenericAllocationHandle memory = 0;
    if (d.cuMemAddressReserve_ptr(&place, whole, 0, 0, 0) != CUDA_SUCCESS) return nullptr;
    if (d.cuMemCreate_ptr(&memory, whole, &properties_, 0) != CUDA_SUCCESS) {
      d.cuMemAddressFree_ptr(place, whole);
      return nullptr;
    }
    const bool mapped = d.cuMemMap_ptr(place, whole, 0, memory, 0) == CUDA_SUCCESS;
    // A mapping keeps the memory alive by itself.
    d.cuMemRelease_ptr(memory);
    const CUmemAccessDesc access{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (mapped && d.cuMemSetAccess_ptr(place, whole, &access, 1) == CUDA_SUCCESS) {
      return reinterpret_cast<void*>(place);
    }
    if (mapped) d.cuMemUnmap_ptr(place, whole);
    d.cuMemAddressFree_ptr(place, whole);
    return nullptr;
  }
  void deallocate(void* memory, std::size_t bytes) noexcept override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const auto place = reinterpret_cast<CUdeviceptr>(memory);
    d.cuMemUnmap_ptr(place, round(bytes));
    d.cuMemAddressFree_ptr(place, round(bytes));
  }
  std::string_view name() const override { return "virtual_memory"; }

 private:
  std::size_t round(std::size_t bytes) const {
    return (bytes + granularity_ - 1) / granularity_ * granularity_;
  }

  device_context device_;
  CUmemAllocationProp properties_{};
  std::size_t granularity_ = 0;
};

}  // namespace warpheap::host::cuda
