// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "warpheap/core/align.hpp"

namespace warpheap::host {

/// Memory of a table that grows. Small tables are in the C library's heap. Large ones have pages of
/// their own, on Linux huge ones if the system has them: the records that one call reads lie far
/// apart, and with small pages the processor would have to look up where each of them is. They stay
/// huge when the table grows, since it grows where it is or moves by whole huge pages.
class table_memory {
 public:
  table_memory() = default;
  table_memory(const table_memory&) = delete;
  table_memory& operator=(const table_memory&) = delete;
  ~table_memory() { release(); }

  void swap(table_memory& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(mapped_, other.mapped_);
  }

  void* place() const { return place_; }

  /// Makes it at least `bytes` bytes, of which the first `used` keep what they hold, and which may
  /// move. False, with nothing changed, if the process is out of memory.
  bool grow(std::size_t used, std::size_t bytes) {
    if (bytes >= smallest_mapped && (mapped_ != 0 ? remap(bytes) : map(used, bytes))) return true;
    if (mapped_ != 0) return false;
    void* const place = std::realloc(place_, bytes);
    if (place == nullptr) return false;
    place_ = place;
    return true;
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  // Large enough that the last huge page is less than half of what is resident.
  static constexpr std::size_t smallest_mapped = 2 * huge_page;

#if defined(__linux__)
  // Addresses for `bytes` bytes from the start of a huge page; nullptr if the process has none.
  static char* reserve(std::size_t bytes) {
    const std::size_t all = bytes + huge_page;
    void* const start =
        ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    const std::size_t front = -reinterpret_cast<std::uintptr_t>(start) % huge_page;
    char* const first = static_cast<char*>(start) + front;
    if (front != 0) ::munmap(start, front);
    ::munmap(first + bytes, huge_page - front);
    return first;
  }

  static std::size_t whole_pages(std::size_t bytes) { return round_up(bytes, huge_page); }

  // The first pages of its own.
  bool map(std::size_t used, std::size_t bytes) {
    bytes = whole_pages(bytes);
    char* const first = reserve(bytes);
    if (first == nullptr) return false;
    // Advice: without huge pages, small ones will do.
    if (::mprotect(first, bytes, PROT_READ | PROT_WRITE) != 0) {
      ::munmap(first, bytes);
      return false;
    }
    ::madvise(first, bytes, MADV_HUGEPAGE);
    if (used != 0) std::memcpy(first, place_, used);
    std::free(place_);
    place_ = first;
    mapped_ = bytes;
    return true;
  }

  bool remap(std::size_t bytes) {
    bytes = whole_pages(bytes);
    void* place = ::mremap(place_, mapped_, bytes, 0);
    if (place == MAP_FAILED) {
      // Huge pages move as they are only from the start of one to that of another. Where addresses
      // are too few to choose from, small pages will do.
      char* const first = reserve(bytes);
      place = first != nullptr
                  ? ::mremap(place_, mapped_, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, first)
                  : ::mremap(place_, mapped_, bytes, MREMAP_MAYMOVE);
      if (place == MAP_FAILED) {
        if (first != nullptr) ::munmap(first, bytes);
        return false;
      }
    }
    place_ = place;
    mapped_ = bytes;
    return true;
  }

  void release() {
    if (mapped_ != 0) {
      ::munmap(place_, mapped_);
    } else {
      std::free(place_);
    }
  }
#else
  bool map(std::size_t, std::size_t) { return false; }
  bool remap(std::size_t) { return false; }
  void release() { std::free(place_); }
#endif

  void* place_ = nullptr;
  std::size_t mapped_ = 0;  ///< 0: from the C library
};

}  // namespace warpheap::host
