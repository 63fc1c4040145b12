// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "warpheap/core/error.hpp"
#include "warpheap/host/stores/table_memory.hpp"

namespace warpheap::host {

/// An array that grows with its contents and never shrinks. Growth moves the elements, so refer to
/// them by index; references do not survive it. Large arrays move by remapping their pages, without
/// a copy.
///
/// Growth is a separate step (`reserve`), so that a structure can secure its room before it begins
/// to change.
template <class T>
class growing_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  growing_array() = default;
  growing_array(growing_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {
    memory_.swap(other.memory_);
  }
  growing_array& operator=(growing_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    memory_.swap(other.memory_);
    return *this;
  }

  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  /// The element that starts `offset` bytes behind the first one.
  T& at_byte(std::size_t offset) {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(data_) + offset);
  }
  const T& at_byte(std::size_t offset) const {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(data_) + offset);
  }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }

  /// Makes room for `capacity` elements, or for half as many again as now if that is more, up to
  /// `most`. False if `capacity` is more than that, or the process is out of memory. Amortised O(1)
  /// per element
  [[gnu::noinline]] bool reserve(std::size_t capacity,
                                 std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if (capacity <= capacity_) return true;
    if (capacity > most) return false;
    capacity = std::min(std::max(capacity, capacity_ + capacity_ / 2), most);
    if (!memory_.grow(size_ * sizeof(T), capacity * sizeof(T))) return false;
    data_ = static_cast<T*>(memory_.place());
    capacity_ = capacity;
    return true;
  }

  /// Adds an uninitialised element. \throws out_of_memory if the process is out of memory
  T& extend() {
    if (size_ == capacity_ && !reserve(size_ + 1)) refuse();
    return data_[size_++];
  }

  /// Adds `count` uninitialised elements. \throws out_of_memory as above
  void extend(std::size_t count) {
    if (count > capacity_ - size_ && !reserve(size_ + count)) refuse();
    size_ += count;
  }

 private:
  // Separate from `extend`, which is inlined where every nanosecond counts.
  [[noreturn, gnu::noinline]] void refuse() const {
    throw out_of_memory("the process has no memory for the bookkeeping of a pool with " +
                        std::to_string(size_) + " entries");
  }

  T* data_ = nullptr;  // of `memory_`
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  table_memory memory_;
};

}  // namespace warpheap::host
