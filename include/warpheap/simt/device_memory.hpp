// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE

/// Hands out memory that a device can use, with the interface of CCCL's resources since 3.1.
template <class R>
concept synchronous_resource = requires(R from, void* memory, std::size_t bytes) {
  { from.allocate_sync(bytes, bytes) } -> std::same_as<void*>;
  from.deallocate_sync(memory, bytes, bytes);
};
/// The same, under the names of earlier versions.
template <class R>
concept earlier_resource =
    !synchronous_resource<R> && requires(R from, void* memory, std::size_t bytes) {
  { from.allocate(bytes, bytes) } -> std::same_as<void*>;
  from.deallocate(memory, bytes, bytes);
};
/// A copyable source of device memory: a resource, or a reference to one, of CCCL or RMM.
template <class R>
concept memory_resource = std::copy_constructible<R> &&
    (synchronous_resource<R> || earlier_resource<R>);

/// Device memory with an owner. Move-only. Its initial contents are undefined.
class device_memory {
 public:
  /// \throws out_of_memory if the device has less than `bytes`
  device_memory(const device& on, std::size_t bytes)
      : memory_(static_cast<std::byte*>(on.allocate(bytes)),
                [on, bytes](std::byte* pointer) { on.deallocate(pointer, bytes); }) {}

  /// Memory from a resource, to which it returns. Keeps a copy of the resource, and passes on what
  /// the resource throws.
  template <memory_resource R>
  device_memory(R from, std::size_t bytes) {
    // First, because the copy of the resource may throw.
    auto release = giving_back(from, bytes);
    memory_ = std::shared_ptr<std::byte>(allocated(from, bytes), std::move(release));
  }
  device_memory(device_memory&&) = default;
  device_memory& operator=(device_memory&&) = default;

  /// The caller's memory, which must outlive the result.
  static device_memory borrowed(std::byte* memory) {
    return device_memory(memory, [](std::byte*) {});
  }

  std::byte* get() const { return memory_.get(); }

 private:
  /// The least alignment of memory from a device.
  static constexpr std::size_t alignment = 256;

  template <class Release>
  device_memory(std::byte* memory, Release release) : memory_(memory, std::move(release)) {}

  template <class R>
  static std::byte* allocated(R& from, std::size_t bytes) {
    if constexpr (synchronous_resource<R>) {
      return static_cast<std::byte*>(from.allocate_sync(bytes, alignment));
    } else {
      return static_cast<std::byte*>(from.allocate(bytes, alignment));
    }
  }

  template <class R>
  static auto giving_back(R from, std::size_t bytes) {
    return [from = std::move(from), bytes](std::byte* pointer) mutable {
      if constexpr (synchronous_resource<R>) {
        from.deallocate_sync(pointer, bytes, alignment);
      } else {
        from.deallocate(pointer, bytes, alignment);
      }
    };
  }

  /// The only owner. A shared_ptr, because it keeps a deleter of any type.
  std::shared_ptr<std::byte> memory_;
};

WARPHEAP_END_NAMESPACE
