// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "warpheap/core/align.hpp"
#include "warpheap/host/upstreams/address_share.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// Addresses without memory: any access to them faults. A program can thus replay a trace that
/// needs more memory than the machine has, and tests prove that a pool never touches the memory
/// that it manages.
class reserved_upstream final : public upstream {
 public:
  void* allocate(std::size_t bytes) override {
    void* place =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return place == MAP_FAILED ? nullptr : place;
  }
  void deallocate(void* memory, std::size_t bytes) noexcept override { ::munmap(memory, bytes); }
  std::string_view name() const override { return "reserved"; }
};

/// The same in pages, like a device's virtual memory: a region can grow in place, and parts of it
/// can be given back. How far it can grow depends on how many there are (`address_share`).
class reserved_pages_upstream final : public upstream {
 public:
  /// \param page_bytes a power of two, a multiple of 4 KiB
  /// \param region_bytes addresses that a region reserves at most
  explicit reserved_pages_upstream(std::size_t page_bytes = std::size_t{2} << 20,
                                   std::size_t region_bytes = std::size_t{1} << 38)
      : page_(page_bytes), most_(align_up(region_bytes, page_bytes)) {}

  void* allocate(std::size_t bytes) override {
    if (bytes > most_) return nullptr;
    regions made;
    region& r = made[nullptr];
    void* place = nullptr;
    r.addresses = r.share.reserve(align_up(bytes, page_), most_, page_, [&](std::size_t addresses) {
      place = reserve(addresses);
      return place != nullptr;
    });
    if (place == nullptr) return nullptr;
    auto node = made.extract(nullptr);
    node.key() = place;
    regions_.insert(std::move(node));
    return place;
  }
  void deallocate(void* memory, std::size_t) noexcept override {
    const auto found = regions_.find(memory);
    source_.deallocate(memory, found->second.addresses);
    regions_.erase(found);
  }
  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    return more <= regions_.find(memory)->second.addresses - bytes;
  }
  std::size_t page_bytes() const override { return page_; }
  bool commit(void*, std::size_t) override { return true; }
  std::string_view name() const override { return "reserved_pages"; }

 private:
  struct region {
    address_share share;
    std::size_t addresses = 0;
  };
  using regions = std::map<void*, region>;

  // Gives back what lies before the first page and after the last.
  void* reserve(std::size_t addresses) {
    void* const place = source_.allocate(addresses + page_);
    if (place == nullptr) return nullptr;
    const auto where = reinterpret_cast<std::uintptr_t>(place);
    const std::uintptr_t front = (page_ - where % page_) % page_;
    void* const first = reinterpret_cast<void*>(where + front);
    if (front != 0) source_.deallocate(place, front);
    source_.deallocate(reinterpret_cast<void*>(where + front + addresses), page_ - front);
    return first;
  }

  reserved_upstream source_;
  std::size_t page_;
  std::size_t most_;
  regions regions_;
};

}  // namespace warpheap::host
