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
#include "warpheap/host/upstreams/address_share.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host::cuda {

/// Device memory that the driver's virtual memory functions map to reserved addresses. A region
/// reserves eight times as many addresses as the device has memory, so that it can grow in place,
/// even after its pages have moved: a pool over this upstream has one region and holds hardly more
/// than it needs. Where a process has many regions, a new one reserves fewer (`address_share`; with
/// a device of 150 GB, from the eighth on), and a pool that outgrows one takes another. Freeing
/// returns physical memory without the device-wide wait of `cudaFree`.
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
    regions made;
    region& r = made[0];
    r.pages.resize(round(bytes) / page_);
    CUdeviceptr place = 0;
    r.addresses = r.share.reserve(
        round(bytes), round(room * device_bytes_), page_, [&](std::size_t addresses) {
          return d.granted(d.cuMemAddressReserve_ptr(&place, addresses, page_, 0, 0),
                           "cannot reserve addresses");
        });
    if (r.addresses == 0) return nullptr;
    const CUresult mapped = map(place, r, 0, r.pages.size());
    if (mapped != CUDA_SUCCESS) {
      d.cuMemAddressFree_ptr(place, r.addresses);
      have_memory(mapped);  // may throw
      return nullptr;
    }
    auto node = made.extract(0);
    node.key() = place;
    regions_.insert(std::move(node));
    return reinterpret_cast<void*>(place);
  }

  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    const device_context::scope current(device_);
    auto& [place, r] = *region_of(memory);
    if (more > r.addresses - bytes) return false;
    if (more == 0) return true;
    const std::size_t first = bytes / page_;
    const std::size_t end = round(bytes + more) / page_;
    r.pages.resize(std::max(end, r.pages.size()));
    return have_memory(map(place, r, r.pages[first] != 0 ? first + 1 : first, end));
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
    for (std::size_t page = 0; page < r.pages.size(); ++page) {
      if (r.pages[page] != 0) driver::get().cuMemRelease_ptr(unmap(place, r, page));
    }
    driver::get().cuMemAddressFree_ptr(place, r.addresses);
    regions_.erase(found);
  }
  std::string_view name() const override { return "virtual_memory"; }

 private:
  using memory_handle = CUmemGenericAllocationHandle;
  struct region {
    address_share share;
    std::size_t addresses = 0;
    /// The memory of each page up to the last that ever had any; 0 for pages without memory.
    std::vector<memory_handle> pages;
  };
  using regions = std::map<CUdeviceptr, region>;

  /// Addresses that a region reserves for each byte of the device's memory, if its share allows it.
  static constexpr std::size_t room = 8;
  static constexpr char cannot_read[] = "the device's memory cannot be read";

  std::size_t round(std::size_t bytes) const { return round_up(bytes, page_); }

  regions::iterator region_of(void* place) {
    return std::prev(regions_.upper_bound(reinterpret_cast<CUdeviceptr>(place)));
  }

  // Gets memory for the pages from `first` up to, but not including, `end`, none of which has any:
  // all or nothing. Returns the driver's first error.
  CUresult map(CUdeviceptr base, region& r, std::size_t first, std::size_t end) {
    if (first >= end) return CUDA_SUCCESS;
    const driver& d = driver::get();
    CUresult result = CUDA_SUCCESS;
    std::size_t page = first;
    while (page < end && (result = map_one(base + page * page_, r.pages[page])) == CUDA_SUCCESS)
      ++page;
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

  memory_handle unmap(CUdeviceptr base, region& r, std::size_t page) noexcept {
    driver::get().cuMemUnmap_ptr(base + page * page_, page_);
    return std::exchange(r.pages[page], 0);
  }

  device_context device_;
  CUmemAllocationProp properties_{};
  std::size_t page_ = 0;
  std::size_t device_bytes_ = 0;
  regions regions_;
  std::vector<memory_handle> aside_;
};

}  // namespace warpheap::host::cuda
