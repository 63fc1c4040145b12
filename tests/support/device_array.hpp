// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include <cstddef>
#include <memory>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// `count` objects in the memory of the machine under test, owned.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t count, const T& initial = T{})
      : device_array(std::vector<T>(count, initial)) {}

  explicit device_array(const std::vector<T>& contents)
      : count_(contents.size()),
        memory_(static_cast<T*>(machine().allocate(bytes())), releaser{bytes()}) {
    write(contents);
  }

  T* get() const { return memory_.get(); }
  std::size_t size() const { return count_; }

  /// The contents that finished lanes have left there.
  std::vector<T> read() const {
    std::vector<T> contents(count_);
    machine().synchronize();
    machine().copy_to_host(contents.data(), get(), count_ * sizeof(T));
    return contents;
  }

  /// \pre `contents.size() == size()`
  void write(const std::vector<T>& contents) const {
    machine().copy_to_device(get(), contents.data(), count_ * sizeof(T));
  }

 private:
  struct releaser {
    std::size_t bytes;
    void operator()(T* pointer) const { machine().deallocate(pointer, bytes); }
  };

  std::size_t bytes() const { return count_ == 0 ? 1 : count_ * sizeof(T); }

  std::size_t count_;
  std::unique_ptr<T, releaser> memory_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
