// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

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
/// can be given back.
class reserved_pages_upstream final : public upstream {
 public:
  /// \param page_bytes a power of two, a multiple of 4 KiB
  /// \param region_bytes addresses that each region reserves
  explicit reserved_pages_upstream(std::size_t page_bytes = std::size_t{2} << 20,
                                   std::size_t region_bytes = std::size_t{1} << 38)
      : page_(page_bytes), room_(region_bytes) {}

  void* allocate(std::size_t bytes) override {
    if (bytes > room_) return nullptr;
    void* place = source_.allocate(room_ + page_);
    return place == nullptr ? nullptr : aligned(place);
  }
  void deallocate(void* memory, std::size_t) noexcept override {
    source_.deallocate(memory, room_);
  }
  bool extend(void*, std::size_t bytes, std::size_t more) override { return more <= room_ - bytes; }
  std::size_t page_bytes() const override { return page_; }
  bool commit(void*, std::size_t) override { return true; }
  std::string_view name() const override { return "reserved_pages"; }

 private:
  // Gives back what lies before the first page and after the last.
  void* aligned(void* place) {
    const auto where = reinterpret_cast<std::uintptr_t>(place);
    const std::uintptr_t front = (page_ - where % page_) % page_;
    void* const first = reinterpret_cast<void*>(where + front);
    if (front != 0) source_.deallocate(place, front);
    source_.deallocate(reinterpret_cast<void*>(where + front + room_), page_ - front);
    return first;
  }

  reserved_upstream source_;
  std::size_t page_;
  std::size_t room_;
};

}  // namespace warpheap::host
