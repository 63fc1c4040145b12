// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
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
/// Pages that are taken together share a mapping, up to `most_together` bytes: the driver takes as
/// long to map one page as a mapping of many. It only unmaps whole mappings.
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
    d.expect(d.cuMemGetInfo_ptr(&free, &device_bytes_), "the device's memory cannot be read");
  }

  ~virtual_memory_upstream() override {
    const device_context::scope current(device_);
    give_back_aside();
  }

  void* allocate(std::size_t bytes) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const std::size_t addresses = round(std::max(bytes, room * device_bytes_));
    CUdeviceptr place = 0;
    if (d.cuMemAddressReserve_ptr(&place, addresses, page_, 0, 0) != CUDA_SUCCESS) return nullptr;
    region& r = regions_[place];
    r.pages = addresses / page_;
    if (map(place, r, 0, round(bytes) / page_)) return reinterpret_cast<void*>(place);
    d.cuMemAddressFree_ptr(place, addresses);
    regions_.erase(place);
    return nullptr;
  }

  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    const device_context::scope current(device_);
    auto& [place, r] = *region_of(memory);
    const std::size_t first = bytes / page_;
    const std::size_t end = round(bytes + more) / page_;
    return end <= r.pages && map(place, r, r.has(first) ? first + 1 : first, end);
  }

  std::size_t available_bytes() const override {
    const device_context::scope current(device_);
    std::size_t free = 0;
    std::size_t total = 0;
    driver::get().cuMemGetInfo_ptr(&free, &total);
    for (const mapping& each : aside_) free += each.pages * page_;
    return free;
  }

  std::size_t page_bytes() const override { return page_; }

  extent mapping_of(address page) const override {
    auto& [base, r] = *region_of(page);
    const auto& [first, found] = *r.around((page - base) / page_);
    return {static_cast<address>(base) + first * page_, found.pages * page_};
  }

  void decommit(void* place, std::size_t bytes) noexcept override {
    const device_context::scope current(device_);
    take_out(place, bytes, [](const mapping& out) { driver::get().cuMemRelease_ptr(out.memory); });
  }

  void set_aside(void* place, std::size_t bytes) noexcept override {
    const device_context::scope current(device_);
    take_out(place, bytes, [this](const mapping& out) { aside_.push_back(out); });
  }

  void give_back_aside() noexcept override {
    const device_context::scope current(device_);
    for (const mapping& each : aside_) driver::get().cuMemRelease_ptr(each.memory);
    aside_.clear();
  }

  bool commit(void* place, std::size_t bytes) override {
    const device_context::scope current(device_);
    auto& [base, r] = *region_of(place);
    const std::size_t first = (reinterpret_cast<CUdeviceptr>(place) - base) / page_;
    return map(base, r, first, first + bytes / page_);
  }

  void deallocate(void* memory, std::size_t) noexcept override {
    const device_context::scope current(device_);
    const auto found = regions_.find(reinterpret_cast<CUdeviceptr>(memory));
    auto& [place, r] = *found;
    for (const auto& [first, each] : r.mappings) {
      unmap(place, first, each);
      driver::get().cuMemRelease_ptr(each.memory);
    }
    driver::get().cuMemAddressFree_ptr(place, r.pages * page_);
    regions_.erase(found);
  }
  std::string_view name() const override { return "virtual_memory"; }

 private:
  /// Memory for some pages.
  struct mapping {
    CUmemGenericAllocationHandle memory;
    std::size_t pages;
  };

  struct region {
    std::size_t pages = 0;                    ///< for which addresses are reserved
    std::map<std::size_t, mapping> mappings;  ///< by their first pages

    /// The mapping that contains the page, if any does; else the one before, or any.
    std::map<std::size_t, mapping>::const_iterator around(std::size_t page) const {
      const auto next = mappings.upper_bound(page);
      return next == mappings.begin() ? next : std::prev(next);
    }
    bool has(std::size_t page) const {
      const auto found = around(page);
      return found != mappings.end() && page - found->first < found->second.pages;
    }
  };

  /// Addresses that a region reserves for each byte of the device's memory.
  static constexpr std::size_t room = 8;
  /// Long enough that to map memory costs little of what it costs in single pages, and small beside
  /// the holes of a pool that must move them (docs/host.md).
  static constexpr std::size_t most_together = std::size_t{8} << 20;

  std::size_t round(std::size_t bytes) const { return round_up(bytes, page_); }

  std::map<CUdeviceptr, region>::const_iterator region_of(address place) const {
    return std::prev(regions_.upper_bound(place));
  }
  std::map<CUdeviceptr, region>::iterator region_of(void* place) {
    return std::prev(regions_.upper_bound(reinterpret_cast<CUdeviceptr>(place)));
  }

  // Gets memory for the pages from `first` up to, but not including, `end`, none of which has any:
  // all or nothing.
  bool map(CUdeviceptr base, region& r, std::size_t first, std::size_t end) {
    if (first >= end) return true;
    const driver& d = driver::get();
    std::size_t page = first;
    while (page < end) {
      const std::size_t mapped = map_some(base, r, page, end - page);
      if (mapped == 0) break;
      page += mapped;
    }
    const CUmemAccessDesc access{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (page == end && d.cuMemSetAccess_ptr(base + first * page_, (end - first) * page_, &access,
                                            1) == CUDA_SUCCESS) {
      return true;
    }
    take_out(reinterpret_cast<void*>(base + first * page_), (page - first) * page_,
             [&](const mapping& out) { d.cuMemRelease_ptr(out.memory); });
    return false;
  }

  // One mapping of at most `most` pages from `page` on. Returns its pages; 0 when out of memory.
  std::size_t map_some(CUdeviceptr base, region& r, std::size_t page, std::size_t most) {
    const driver& d = driver::get();
    const mapping got = memory_for(most);
    if (got.pages == 0) return 0;
    if (d.cuMemMap_ptr(base + page * page_, got.pages * page_, 0, got.memory, 0) == CUDA_SUCCESS) {
      r.mappings.emplace(page, got);
      return got.pages;
    }
    d.cuMemRelease_ptr(got.memory);
    return 0;
  }

  // At most `most` pages: what was set aside, if something fits, or new memory.
  mapping memory_for(std::size_t most) {
    const driver& d = driver::get();
    const auto fits = std::find_if(aside_.begin(), aside_.end(),
                                   [&](const mapping& each) { return each.pages <= most; });
    if (fits != aside_.end()) {
      const mapping got = *fits;
      aside_.erase(fits);
      return got;
    }
    mapping got{0, std::min(most, std::max(most_together / page_, std::size_t{1}))};
    for (; got.pages != 0; got.pages /= 2) {
      if (d.cuMemCreate_ptr(&got.memory, got.pages * page_, &properties_, 0) == CUDA_SUCCESS) break;
      // What was set aside is all that is left, in mappings that are too large.
      if (!aside_.empty()) {
        d.cuMemRelease_ptr(aside_.back().memory);
        aside_.pop_back();
        got.pages *= 2;
      }
    }
    return got;
  }

  // Unmaps the mappings of some pages and passes each to `keep`.
  template <class Keep>
  void take_out(void* place, std::size_t bytes, Keep&& keep) noexcept {
    auto& [base, r] = *region_of(place);
    const std::size_t first = (reinterpret_cast<CUdeviceptr>(place) - base) / page_;
    const auto from = r.mappings.lower_bound(first);
    const auto to = r.mappings.lower_bound(first + bytes / page_);
    for (auto each = from; each != to; ++each) {
      unmap(base, each->first, each->second);
      keep(each->second);
    }
    r.mappings.erase(from, to);
  }

  void unmap(CUdeviceptr base, std::size_t first, const mapping& out) noexcept {
    driver::get().cuMemUnmap_ptr(base + first * page_, out.pages * page_);
  }

  device_context device_;
  CUmemAllocationProp properties_{};
  std::size_t page_ = 0;
  std::size_t device_bytes_ = 0;
  std::map<CUdeviceptr, region> regions_;
  std::vector<mapping> aside_;
};

}  // namespace warpheap::host::cuda
