// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include "warpheap/host/resources/stream_like.hpp"

namespace warpheap::host {

/// The four calls of a resource under the names that CCCL used before version 3.1. `Resource` is
/// the derived class, which has them under the current names; it must bring `allocate` and
/// `deallocate` into its own scope.
template <class Resource>
class earlier_names {
  friend Resource;
  earlier_names() = default;

 public:
  void* allocate(std::size_t bytes, std::size_t alignment) {
    return self().allocate_sync(bytes, alignment);
  }
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
    self().deallocate_sync(memory, bytes, alignment);
  }
  template <stream_like Stream>
  void* allocate_async(std::size_t bytes, std::size_t alignment, Stream stream) {
    return self().allocate(stream, bytes, alignment);
  }
  template <stream_like Stream>
  void deallocate_async(void* memory, std::size_t bytes, std::size_t alignment, Stream stream) {
    self().deallocate(stream, memory, bytes, alignment);
  }

  friend bool operator==(const earlier_names&, const earlier_names&) = default;

 private:
  Resource& self() { return static_cast<Resource&>(*this); }
};

}  // namespace warpheap::host
