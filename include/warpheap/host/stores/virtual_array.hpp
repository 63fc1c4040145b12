// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "warpheap/core/error.hpp"

namespace warpheap::host {

/// An array that grows without ever moving an element: it reserves address space for `capacity`
/// elements at once and the system provides a page when it is first touched. So growth costs the
/// same at any size, and references stay valid. Elements start as zero bytes. The first pages are
/// touched at the start: a small pool never waits for one.
template <class T>
class virtual_array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// \throws out_of_memory if the address space cannot be reserved
  explicit virtual_array(std::size_t capacity) : capacity_(capacity) {
    void* place = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
      throw out_of_memory("cannot reserve " + std::to_string(bytes()) +
                          " bytes of address space for the bookkeeping of a pool");
    }
    data_ = static_cast<T*>(place);
    touch_first_pages();
  }

  virtual_array(virtual_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  virtual_array& operator=(virtual_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~virtual_array() {
    if (data_ != nullptr) ::munmap(data_, bytes());
  }

  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  std::size_t size() const { return size_; }

  /// Makes `count` zeroed elements more. \throws out_of_memory at the capacity
  void extend(std::size_t count) {
    if (count > capacity_ - size_) refuse();
    size_ += count;
  }

 private:
  // Apart from `extend`, which is inlined where every nanosecond counts.
  [[noreturn, gnu::noinline]] void refuse() const {
    throw out_of_memory("the bookkeeping of a pool is limited to " + std::to_string(capacity_) +
                        " entries");
  }

  void touch_first_pages() {
    constexpr std::size_t page = 4096;
    constexpr std::size_t first = std::size_t{256} << 10;
    auto* const place = reinterpret_cast<volatile char*>(data_);
    for (std::size_t at = 0; at < std::min(first, bytes()); at += page) place[at] = 0;
  }

  std::size_t bytes() const { return capacity_ * sizeof(T); }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace warpheap::host
