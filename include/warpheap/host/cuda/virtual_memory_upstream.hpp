// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "warpheap/core/align.hpp"
#include "warpheap/host/cuda/device_context.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host::cuda {

/// Device memory that the driver's virtual memory functions map to reserved addresses. Each region
/// reserves several times as many addresses as the device has memory, so that it can grow in place,
/// even after its pages have moved: a pool over this upstream has one region and holds hardly more
/// than it needs. Freeing returns physical memory without the device-wide wait of `cudaFree`.
///
/// Each page has its own mapping, because the driver only unmaps whole mappings.
class virtual_memory_upstream final : public upstream {
 public:
  explicit virtual_memory_upstream(int ordinal) : device_(ordinal) {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = ordinal;
    d.expect(d.cuMemGetAllocationGranularity_ptr(&page_, &properties_,
                                                 CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
             "the device has no virtual memory functions");
    std::size_t free = 0;
    d.expect(d.cuMemGetInfo_ptr(&free, &device_bytes_), cannot_read);
  }

  ~virtual_memory_upstream() override {
    const device_context::scope current(device_);
    for (const memory_handle memory : aside_) driver::get().cuMemRelease_ptr(memory);
  }

  void* allocate(std::size_t bytes) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    if (bytes > device_bytes_) return nullptr;
    const std::size_t addresses = round(room * device_bytes_);
    CUdeviceptr place = 0;
    if (!d.granted(d.cuMemAddressReserve_ptr(&place, addresses, page_, 0, 0),
                   "cannot reserve addresses")) {
      return nullptr;
    }
    pages& r = regions_[place];
    r.resize(addresses / page_);
    const CUresult mapped = map(place, r, 0, round(bytes) / page_);
    if (mapped == CUDA_SUCCESS) return reinterpret_cast<void*>(place);
    d.cuMemAddressFree_ptr(place, addresses);
    regions_.erase(place);
    have_memory(mapped);  // may throw
    return nullptr;
  }

  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    const device_context::scope current(device_);
    auto& [place, r] = *region_of(memory);
    const std::size_t first = bytes / page_;
    const std::size_t end = round(bytes + more) / page_;
    return end <= r.size() && have_memory(map(place, r, r[first] != 0 ? first + 1 : first, end));
  }

  std::size_t available_bytes() const override {
    const device_context::scope current(device_);
    std::size_t free = 0;
    std::size_t total = 0;
    const driver& d = driver::get();
    d.expect(d.cuMemGetInfo_ptr(&free, &total), cannot_read);
    return free + aside_.size() * page_;
  }

  std::size_t page_bytes() const override { return page_; }

  void decommit(void* place, std::size_t bytes) noexcept override {
    const device_context::scope current(device_);
    auto& [base, r] = *region_of(place);
    const std::size_t first = (reinterpret_cast<CUdeviceptr>(place) - base) / page_;
    for (std::size_t page = first; page < first + bytes / page_; ++page) {
      driver::get().cuMemRelease_ptr(unmap(base, r, page));
    }
  }

  void set_aside(void* place, std::size_t bytes) noexcept override {
    const device_context::scope current(device_);
    auto& [base, r] = *region_of(place);
    const std::size_t first = (reinterpret_cast<CUdeviceptr>(place) - base) / page_;
    for (std::size_t page = first; page < first + bytes / page_; ++page) {
      aside_.push_back(unmap(base, r, page));
    }
  }

  bool commit(void* place, std::size_t bytes) override {
    const device_context::scope current(device_);
    auto& [base, r] = *region_of(place);
    const std::size_t first = (reinterpret_cast<CUdeviceptr>(place) - base) / page_;
    return have_memory(map(base, r, first, first + bytes / page_));
  }

  void deallocate(void* memory, std::size_t) noexcept override {
    const device_context::scope current(device_);
    const auto found = region_of(memory);
    auto& [place, r] = *found;
    for (std::size_t page = 0; page < r.size(); ++page) {
      if (r[page] != 0) driver::get().cuMemRelease_ptr(unmap(place, r, page));
    }
    driver::get().cuMemAddressFree_ptr(place, r.size() * page_);
    regions_.erase(found);
  }
  std::string_view name() const override { return "virtual_memory"; }

 private:
  using memory_handle = CUmemGenericAllocationHandle;
  /// The memory of each page for which addresses are reserved; 0 for pages without memory.
  using pages = std::vector<memory_handle>;

  /// Addresses that a region reserves for each byte of the device's memory.
  static constexpr std::size_t room = 8;
  static constexpr char cannot_read[] = "the device's memory cannot be read";

  std::size_t round(std::size_t bytes) const { return round_up(bytes, page_); }

  std::map<CUdeviceptr, pages>::iterator region_of(void* place) {
    return std::prev(regions_.upper_bound(reinterpret_cast<CUdeviceptr>(place)));
  }

  // Gets memory for the pages from `first` up to, but not including, `end`, none of which has any:
  // all or nothing. Returns the driver's first error.
  CUresult map(CUdeviceptr base, pages& r, std::size_t first, std::size_t end) {
    if (first >= end) return CUDA_SUCCESS;
    const driver& d = driver::get();
    CUresult result = CUDA_SUCCESS;
    std::size_t page = first;
    while (page < end && (result = map_one(base + page * page_, r[page])) == CUDA_SUCCESS) ++page;
    if (result == CUDA_SUCCESS) {
      const CUmemAccessDesc access{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      result = d.cuMemSetAccess_ptr(base + first * page_, (end - first) * page_, &access, 1);
    }
    if (result == CUDA_SUCCESS) return result;
    while (page-- != first) d.cuMemRelease_ptr(unmap(base, r, page));
    return result;
  }

  CUresult map_one(CUdeviceptr place, memory_handle& memory) {
    const driver& d = driver::get();
    memory_handle got = 0;
    if (!aside_.empty()) {
      got = aside_.back();
      aside_.pop_back();
    } else {
      const CUresult created = d.cuMemCreate_ptr(&got, page_, &properties_, 0);
      if (created != CUDA_SUCCESS) return created;
    }
    const CUresult mapped = d.cuMemMap_ptr(place, page_, 0, got, 0);
    if (mapped == CUDA_SUCCESS) {
      memory = got;
    } else {
      d.cuMemRelease_ptr(got);
    }
    return mapped;
  }

  // What `map` returned; false when out of memory. \throws driver_error for another error
  static bool have_memory(CUresult mapped) {
    return driver::get().granted(mapped, "cannot map device memory");
  }

  memory_handle unmap(CUdeviceptr base, pages& r, std::size_t page) noexcept {
    driver::get().cuMemUnmap_ptr(base + page * page_, page_);
    return std::exchange(r[page], 0);
  }

  device_context device_;
  CUmemAllocationProp properties_{};
  std::size_t page_ = 0;
  std::size_t device_bytes_ = 0;
  std::map<CUdeviceptr, pages> regions_;
  std::vector<memory_handle> aside_;
};

}  // namespace warpheap::host::cuda
