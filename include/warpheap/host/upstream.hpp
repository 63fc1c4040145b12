// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
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

}  // namespace warpheap::host
