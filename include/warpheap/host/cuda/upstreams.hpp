// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <vector>

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
/// functions. Each region reserves as many addresses as the device has memory, so that it can grow
/// where it is: a pool over this upstream has one region and holds hardly more than it needs.
/// Freeing gives physical memory back without the device-wide wait of `cudaFree`.
class virtual_memory_upstream final : public upstream {
 public:
  explicit virtual_memory_upstream(int ordinal) : device_(ordinal) {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = ordinal;
    d.expect(d.cuMemGetAllocationGranularity_ptr(&granularity_, &properties_,
                                                 CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
             "the device has no virtual memory functions");
    std::size_t free = 0;
    d.expect(d.cuMemGetInfo_ptr(&free, &device_bytes_), "the device's memory cannot be read");
  }

  void* allocate(std::size_t bytes) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const std::size_t addresses = round(std::max(bytes, device_bytes_));
    CUdeviceptr place = 0;
    if (d.cuMemAddressReserve_ptr(&place, addresses, 0, 0, 0) != CUDA_SUCCESS) return nullptr;
    if (!map(place, round(bytes))) {
      d.cuMemAddressFree_ptr(place, addresses);
      return nullptr;
    }
    regions_[place] = {addresses, {round(bytes)}};
    return reinterpret_cast<void*>(place);
  }

  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    const device_context::scope current(device_);
    const auto place = reinterpret_cast<CUdeviceptr>(memory);
    region& r = regions_.at(place);
    const std::size_t mapped = std::accumulate(r.pieces.begin(), r.pieces.end(), std::size_t{0});
    if (bytes + more <= mapped) return true;
    const std::size_t missing = round(bytes + more - mapped);
    if (mapped + missing > r.addresses || !map(place + mapped, missing)) return false;
    r.pieces.push_back(missing);
    return true;
  }

  void deallocate(void* memory, std::size_t) noexcept override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const auto place = reinterpret_cast<CUdeviceptr>(memory);
    const auto found = regions_.find(place);
    // Each piece was mapped by a call of its own and is unmapped by one.
    CUdeviceptr piece = place;
    for (const std::size_t bytes : found->second.pieces) {
      d.cuMemUnmap_ptr(piece, bytes);
      piece += bytes;
    }
    d.cuMemAddressFree_ptr(place, found->second.addresses);
    regions_.erase(found);
  }
  std::string_view name() const override { return "virtual_memory"; }

 private:
  struct region {
    std::size_t addresses;
    std::vector<std::size_t> pieces;  ///< bytes of each mapping, in the order of addresses
  };

  std::size_t round(std::size_t bytes) const {
    return (bytes + granularity_ - 1) / granularity_ * granularity_;
  }

  bool map(CUdeviceptr place, std::size_t bytes) {
    const driver& d = driver::get();
    CUmemGenericAllocationHandle memory = 0;
    if (d.cuMemCreate_ptr(&memory, bytes, &properties_, 0) != CUDA_SUCCESS) return false;
    const bool mapped = d.cuMemMap_ptr(place, bytes, 0, memory, 0) == CUDA_SUCCESS;
    // A mapping keeps the memory alive by itself.
    d.cuMemRelease_ptr(memory);
    if (!mapped) return false;
    const CUmemAccessDesc access{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (d.cuMemSetAccess_ptr(place, bytes, &access, 1) == CUDA_SUCCESS) return true;
    d.cuMemUnmap_ptr(place, bytes);
    return false;
  }

  device_context device_;
  CUmemAllocationProp properties_{};
  std::size_t granularity_ = 0;
  std::size_t device_bytes_ = 0;
  std::unordered_map<CUdeviceptr, region> regions_;
};

}  // namespace warpheap::host::cuda
