// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a memory manager must offer to stand behind `heap`, the layers, the survey and the tests.

#include "warpheap/core/align.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/heap/capabilities.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

/// Device memory that a manager lays itself out in, metadata included.
struct region {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

/// A region is too small for a manager.
class region_too_small : public invalid_argument {
 public:
  using invalid_argument::invalid_argument;
};

/// Options of managers that have none at run time.
struct no_options {};

/// A manager is a trivially copyable handle: pointers and sizes of its region. Kernels get copies.
///
/// All members below are const: a handle does not change, the region that it points to does.
///
/// On the host, without touching the region:
/// - `M::about`, its capabilities;
/// - `M(region, device_properties, options)`: lays itself out. Throws `region_too_small` if the
///   region is; `heap` then finds out which size is enough.
///
/// In lanes:
/// - `format(rank, count)`: called once by every lane of a grid of `count` lanes before anything
///   else (and again at every reset): brings the region into its initial state, each lane a share;
/// - `malloc(bytes)`: a block aligned to `about.alignment`, or null at once or in bounded time: for
///   0 bytes, for a size that can never be served, and when memory is out;
/// - `free(pointer)`: null is ignored. Any lane, block or later launch may free a block;
/// - `inspect(rank, count, inspection)`: called by every lane of a grid while nobody allocates.
///
/// `malloc` and `free` never trap, print or hang, with any set of lanes converged, also after
/// memory was out; each wait loop says in the header why it makes progress when lanes of one warp
/// are scheduled independently.
template <class M>
concept device_manager = std::is_trivially_copyable_v<M> &&
    requires(const M m, std::size_t bytes, void* pointer, std::uint64_t rank, inspection& findings,
             const region& memory, const simt::device_properties& machine,
             const typename M::options& options) {
  { M::about } -> std::convertible_to<const capabilities&>;
  M(memory, machine, options);
  m.format(rank, rank);
  { m.malloc(bytes) } -> std::same_as<void*>;
  m.free(pointer);
  m.inspect(rank, rank, findings);
};

/// Deals a region out, front to back, while a manager lays itself out.
class region_cursor {
 public:
  /// \param owner name of the manager, for the message
  region_cursor(const region& memory, const char* owner)
      : owner_(owner),
        begin_(reinterpret_cast<std::uintptr_t>(memory.base)),
        next_(begin_),
        end_(begin_ + memory.bytes) {}

  /// `count` objects at the next address that is a multiple of `alignment`.
  /// \throws region_too_small if the region ends before that
  template <class T>
  T* take(std::size_t count, std::size_t alignment = alignof(T)) {
    const std::uintptr_t start = round_up<std::uintptr_t>(next_, alignment);
    if (start > end_ || count > (end_ - start) / sizeof(T)) {
      throw region_too_small("a heap of " + std::to_string(end_ - begin_) +
                             " bytes is too small for " + owner_ + ": " +
                             std::to_string(count * sizeof(T)) +
                             " bytes are to start at its byte " + std::to_string(start - begin_));
    }
    next_ = start + count * sizeof(T);
    return reinterpret_cast<T*>(start);
  }

  /// Bytes that are left when the next object is aligned to `alignment`.
  std::size_t left(std::size_t alignment) const {
    const std::uintptr_t start = round_up<std::uintptr_t>(next_, alignment);
    return start < end_ ? end_ - start : 0;
  }

 private:
  const char* owner_;
  std::uintptr_t begin_;
  std::uintptr_t next_;
  std::uintptr_t end_;
};

WARPHEAP_END_NAMESPACE
