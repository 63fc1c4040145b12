// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpheap::bench {

/// An array in a machine's memory, freed with its owner. Starts with all bytes 0.
template <class T>
class device_array {
 public:
  device_array(machine& on, std::size_t size)
      : on_(&on), size_(size), data_(static_cast<T*>(on.allocate(bytes_of(size)))) {
    clear();
  }
  device_array(machine& on, const std::vector<T>& values) : device_array(on, values.size()) {
    if (!values.empty()) on_->to_device(data_, values.data(), values.size() * sizeof(T));
  }
  device_array(device_array&& other) noexcept
      : on_(other.on_), size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}
  device_array& operator=(device_array&&) = delete;
  ~device_array() {
    if (data_ != nullptr) on_->deallocate(data_, bytes_of(size_));
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void clear() { on_->fill(data_, 0, bytes_of(size_)); }

  /// The first `count` elements.
  std::vector<T> to_host(std::size_t count) const {
    std::vector<T> values(count);
    if (count != 0) on_->to_host(values.data(), data_, count * sizeof(T));
    return values;
  }
  std::vector<T> to_host() const { return to_host(size_); }

 private:
  // No machine allocates nothing.
  static std::size_t bytes_of(std::size_t size) { return (size == 0 ? 1 : size) * sizeof(T); }

  machine* on_;
  std::size_t size_;
  T* data_;
};

/// An array in the memory of the machine's pool, freed with its owner. Its contents are what was
/// there: nothing is spent on them.
template <class T>
class pooled_array {
 public:
  pooled_array(machine& on, std::uint64_t size)
      : on_(&on), size_(size), data_(static_cast<T*>(on.allocate_pooled(bytes()))) {}
  pooled_array(pooled_array&& other) noexcept
      : on_(other.on_), size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}
  pooled_array& operator=(pooled_array&& other) noexcept {
    std::swap(on_, other.on_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~pooled_array() {
    if (data_ != nullptr) on_->deallocate_pooled(data_, bytes());
  }

  T* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  void clear() const { on_->fill(data_, 0, bytes()); }

  T at(std::uint64_t i) const {
    T value;
    on_->to_host(&value, data_ + i, sizeof value);
    return value;
  }
  /// The first `count` elements.
  std::vector<T> to_host(std::uint64_t count) const {
    std::vector<T> values(count);
    if (count != 0) on_->to_host(values.data(), data_, count * sizeof(T));
    return values;
  }

 private:
  // No machine allocates nothing.
  std::size_t bytes() const { return (size_ == 0 ? 1 : size_) * sizeof(T); }

  machine* on_;
  std::uint64_t size_;
  T* data_;
};

}  // namespace warpheap::bench
