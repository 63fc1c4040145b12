// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// An upstream that several pools share, with one limit for all of them. Any thread may call it.
///
/// Invariant: U1: the memory that counts against the limit is that of all regions without their
/// vacant pages.
class shared_upstream final : public upstream {
 public:
  shared_upstream(std::shared_ptr<upstream> source, std::size_t limit_bytes)
      : source_(std::move(source)), limit_(limit_bytes) {}

  void* allocate(std::size_t bytes) override {
    const std::lock_guard guard(lock_);
    if (bytes > limit_ - held_) return nullptr;
    // The record first: if the process has no memory for it, nothing has been obtained.
    regions added;
    added.emplace(0, 0);
    void* const memory = source_->allocate(bytes);
    if (memory == nullptr) return nullptr;
    auto record = added.extract(added.begin());
    record.key() = reinterpret_cast<std::uintptr_t>(memory);
    vacant_.insert(std::move(record));
    held_ += bytes;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes) noexcept override {
    const std::lock_guard guard(lock_);
    const auto region = region_of(memory);
    held_ -= bytes - region->second;
    vacant_.erase(region);
    source_->deallocate(memory, bytes);
  }
  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    const std::lock_guard guard(lock_);
    if (more > limit_ - held_ || !source_->extend(memory, bytes, more)) return false;
    held_ += more;
    return true;
  }
  std::size_t available_bytes() const override {
    const std::lock_guard guard(lock_);
    return std::min(limit_ - held_, source_->available_bytes());
  }

  std::size_t page_bytes() const override { return source_->page_bytes(); }
  void decommit(void* place, std::size_t bytes) noexcept override {
    const std::lock_guard guard(lock_);
    vacate(place, bytes);
    source_->decommit(place, bytes);
  }
  void set_aside(void* place, std::size_t bytes) noexcept override {
    const std::lock_guard guard(lock_);
    vacate(place, bytes);
    source_->set_aside(place, bytes);
  }
  bool commit(void* place, std::size_t bytes) override {
    const std::lock_guard guard(lock_);
    if (bytes > limit_ - held_ || !source_->commit(place, bytes)) return false;
    region_of(place)->second -= bytes;
    held_ += bytes;
    return true;
  }
  std::string_view name() const override { return source_->name(); }

 private:
  using regions = std::map<std::uintptr_t, std::size_t>;

  regions::iterator region_of(void* place) {
    return std::prev(vacant_.upper_bound(reinterpret_cast<std::uintptr_t>(place)));
  }

  void vacate(void* place, std::size_t bytes) {
    region_of(place)->second += bytes;
    held_ -= bytes;
  }

  mutable std::mutex lock_;
  std::shared_ptr<upstream> source_;
  std::size_t limit_;
  std::size_t held_ = 0;
  regions vacant_;  ///< start of each region -> its vacant bytes
};

}  // namespace warpheap::host
