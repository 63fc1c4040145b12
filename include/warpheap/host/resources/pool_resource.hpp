// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "warpheap/core/error.hpp"
#include "warpheap/host/pools/memory_pool.hpp"

namespace warpheap::host {

/// Something that names a stream: `stream_id`, a stream's handle (`cudaStream_t`), or an object
/// with a `get()` that returns one (`cuda::stream_ref`).
template <class Stream>
concept stream_like = std::same_as<Stream, stream_id> || std::is_pointer_v<Stream> ||
    requires(const Stream& stream) {
  {stream.get()};
  requires std::is_pointer_v<decltype(stream.get())>;
};

/// The stream's name in the pools.
template <stream_like Stream>
stream_id id_of(const Stream& stream) {
  if constexpr (std::same_as<Stream, stream_id>) {
    return stream;
  } else if constexpr (std::is_pointer_v<Stream>) {
    // 1 is CUDA's other name for the legacy default stream.
    const auto handle = reinterpret_cast<std::uintptr_t>(stream);
    return stream_id{handle == 1 ? 0 : handle};
  } else {
    return id_of(stream.get());
  }
}

/// Shared ownership of a pool, in the form in which CCCL and RMM take memory resources: stream
/// first, sizes on both calls, copyable, comparable. Copies are the same pool.
///
/// `allocate` throws out_of_memory; `deallocate` throws invalid_argument for a pointer that is not
/// a live block. The derived classes of cuda/device_resource.hpp say where the memory is
/// accessible, as `cuda::mr` properties.
class pool_resource {
 public:
  static constexpr std::size_t default_alignment = 256;

  /// \pre `pool` is not null
  explicit pool_resource(std::shared_ptr<memory_pool> pool) : pool_(std::move(pool)) {}

  template <stream_like Stream>
  void* allocate(Stream stream, std::size_t bytes, std::size_t alignment = default_alignment) {
    return pool_->allocate(bytes, alignment, id_of(stream));
  }
  template <stream_like Stream>
  void deallocate(Stream stream, void* memory, std::size_t, std::size_t = default_alignment) {
    pool_->deallocate(memory, id_of(stream));
  }

  /// Memory that no stream uses any more; freed memory must be unused by every stream.
  void* allocate_sync(std::size_t bytes, std::size_t alignment = default_alignment) {
    return pool_->allocate(bytes, alignment, stream_id::none);
  }
  void deallocate_sync(void* memory, std::size_t, std::size_t = default_alignment) {
    pool_->deallocate(memory, stream_id::none);
  }

  /// The same four under the names that CCCL used before version 3.1.
  void* allocate(std::size_t bytes, std::size_t alignment) {
    return allocate_sync(bytes, alignment);
  }
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
    deallocate_sync(memory, bytes, alignment);
  }
  template <stream_like Stream>
  void* allocate_async(std::size_t bytes, std::size_t alignment, Stream stream) {
    return allocate(stream, bytes, alignment);
  }
  template <stream_like Stream>
  void deallocate_async(void* memory, std::size_t bytes, std::size_t alignment, Stream stream) {
    deallocate(stream, memory, bytes, alignment);
  }

  memory_pool& pool() const { return *pool_; }

  friend bool operator==(const pool_resource&, const pool_resource&) = default;

 private:
  std::shared_ptr<memory_pool> pool_;
};

}  // namespace warpheap::host
