// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "warpheap/core/error.hpp"
#include "warpheap/host/pools/pool_interface.hpp"
#include "warpheap/host/resources/earlier_names.hpp"
#include "warpheap/host/resources/stream_like.hpp"

namespace warpheap::host {

/// Shared ownership of a pool, in the form in which CCCL and RMM take memory resources: stream
/// first, sizes on both calls, copyable, comparable. Copies refer to the same pool.
///
/// `allocate` throws out_of_memory, and passes on what an upstream throws that fails for another
/// reason; `deallocate` throws invalid_argument for a pointer that is not a live block. The derived
/// classes of cuda/device_resource.hpp say where the memory is accessible, as `cuda::mr`
/// properties.
class pool_resource : public earlier_names<pool_resource> {
 public:
  using earlier_names::allocate;
  using earlier_names::deallocate;

  static constexpr std::size_t default_alignment = 256;

  /// \pre `pool` is not null
  explicit pool_resource(std::shared_ptr<pool_interface> pool) : pool_(std::move(pool)) {}

  /// At least `bytes` bytes at a multiple of `alignment`, a power of two, for work in `stream` from
  /// now on. \throws out_of_memory
  template <stream_like Stream>
  void* allocate(Stream stream, std::size_t bytes, std::size_t alignment = default_alignment) {
    return pool_->allocate(bytes, alignment, id_of(stream));
  }
  /// Takes back a block that was last used by work in `stream`. \throws invalid_argument
  template <stream_like Stream>
  void deallocate(Stream stream, void* memory, std::size_t, std::size_t = default_alignment) {
    pool_->deallocate(memory, id_of(stream));
  }

  /// The same without a stream: no stream uses the allocated memory, and none may still use the
  /// freed memory.
  void* allocate_sync(std::size_t bytes, std::size_t alignment = default_alignment) {
    return pool_->allocate(bytes, alignment, stream_id::none);
  }
  void deallocate_sync(void* memory, std::size_t, std::size_t = default_alignment) {
    pool_->deallocate(memory, stream_id::none);
  }

  /// The pool, for functions that only it offers.
  pool_interface& pool() const { return *pool_; }

  friend bool operator==(const pool_resource&, const pool_resource&) = default;

 private:
  std::shared_ptr<pool_interface> pool_;
};

}  // namespace warpheap::host
