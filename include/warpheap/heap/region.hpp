// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/core/config.hpp"
#include "warpheap/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE

/// Device memory in which a manager lays itself out, including metadata.
struct region {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

/// A region is too small for a manager.
class region_too_small : public invalid_argument {
 public:
  /// \param enough as `enough()`
  explicit region_too_small(const std::string& message, std::size_t enough = 0)
      : invalid_argument(message), enough_(enough) {}

  /// Bytes of the smallest region that is large enough; 0 if that is unknown, as it is to the
  /// manager, or if no region is large enough. `heap` finds it out.
  std::size_t enough() const { return enough_; }

 private:
  std::size_t enough_;
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
    if (start > end_ || count > (end_ - start) / sizeof(T)) refuse(start, count * sizeof(T));
    next_ = start + count * sizeof(T);
    return reinterpret_cast<T*>(start);
  }

  /// Bytes that are left when the next object is aligned to `alignment`.
  std::size_t left(std::size_t alignment) const {
    const std::uintptr_t start = round_up<std::uintptr_t>(next_, alignment);
    return start < end_ ? end_ - start : 0;
  }

 private:
  /// Apart from `take`, which is compiled for every type.
  [[noreturn]] void refuse(std::uintptr_t start, std::size_t bytes) const {
    throw region_too_small("a heap of " + std::to_string(end_ - begin_) +
                           " bytes is too small for " + owner_ + ": " + std::to_string(bytes) +
                           " bytes are to start at its byte " + std::to_string(start - begin_));
  }

  const char* owner_;
  std::uintptr_t begin_;
  std::uintptr_t next_;
  std::uintptr_t end_;
};

WARPHEAP_END_NAMESPACE
