// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace warpheap::host {

/// Where a pool gets its regions from. Called rarely and under the pool's lock.
class upstream {
 public:
  /// What `allocate` returns is a multiple of it.
  static constexpr std::size_t alignment = 256;

  virtual ~upstream() = default;

  /// `bytes` bytes of memory, or null when there are none.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* memory, std::size_t bytes) noexcept = 0;
  /// Adds `more` bytes right behind memory that was allocated with `bytes` bytes, which then has
  /// their sum. False, and nothing changed, if that is impossible.
  virtual bool extend(void* /*memory*/, std::size_t /*bytes*/, std::size_t /*more*/) {
    return false;
  }

  /// How many bytes it could give now, as far as it knows.
  virtual std::size_t available_bytes() const { return std::numeric_limits<std::size_t>::max(); }

  /// The size of the pages in which a part of what was allocated can go back and come again, a
  /// power of two; 0 if memory comes and goes whole. Where there are pages, `allocate` returns
  /// multiples of it.
  virtual std::size_t page_bytes() const { return 0; }
  /// Gives the memory of whole pages back and keeps their addresses. Nobody uses them any more.
  virtual void decommit(void* /*place*/, std::size_t /*bytes*/) noexcept {}
  /// The same, but the memory is for the next calls of `commit` and `extend`.
  virtual void set_aside(void* place, std::size_t bytes) noexcept { decommit(place, bytes); }
  /// Puts memory under such addresses again. False, and nothing changed, if there is none.
  virtual bool commit(void* /*place*/, std::size_t /*bytes*/) { return false; }
  /// The name that the tools use.
  virtual std::string_view name() const = 0;
};

/// Memory of the host.
class host_upstream final : public upstream {
 public:
  void* allocate(std::size_t bytes) override { return std::aligned_alloc(page, round(bytes)); }
  void deallocate(void* memory, std::size_t) noexcept override { std::free(memory); }
  std::string_view name() const override { return "host"; }

 private:
  static constexpr std::size_t page = 4096;
  static std::size_t round(std::size_t bytes) { return (bytes + page - 1) / page * page; }
};

/// Addresses without memory: any access to them is a fault. So a program can replay a trace that
/// needs more memory than there is, and a test proves that a pool never touches what it manages.
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

/// The same in pages, as a device's virtual memory has them: a region can grow where it is, and
/// parts of it can go back.
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
  // Gives back what is before the first page and behind the last.
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
