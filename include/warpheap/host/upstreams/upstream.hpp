// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

namespace warpheap::host {

/// Where a pool gets its regions from. Called rarely and under the pool's lock.
///
/// An upstream that fails for another reason than a lack of memory throws an exception that is not
/// out_of_memory, and has changed nothing. The pool passes it on and remains usable.
class upstream {
 public:
  /// What `allocate` returns is a multiple of it.
  static constexpr std::size_t alignment = 256;

  virtual ~upstream() = default;

  /// `bytes` bytes of memory, or null when out of memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* memory, std::size_t bytes) noexcept = 0;
  /// Extends an allocation of `bytes` bytes in place by `more` bytes, which follow it directly.
  /// False, with nothing changed, if that is impossible. Any number of bytes may be asked for; 0
  /// changes nothing.
  virtual bool extend(void* /*memory*/, std::size_t /*bytes*/, std::size_t /*more*/) {
    return false;
  }

  /// The bytes that `allocate` could return now, as far as the upstream knows.
  virtual std::size_t available_bytes() const { return std::numeric_limits<std::size_t>::max(); }

  /// The size of the pages in which parts of an allocation can be given back and taken again, a
  /// power of two; 0 if allocations can only be taken and given back whole. If it is not 0,
  /// `allocate` returns multiples of it.
  virtual std::size_t page_bytes() const { return 0; }
  /// Gives the memory of whole pages back and keeps their addresses. \pre they are unused
  virtual void decommit(void* /*place*/, std::size_t /*bytes*/) noexcept {}
  /// The same, but keeps the memory for the next calls of `commit` and `extend`.
  virtual void set_aside(void* place, std::size_t bytes) noexcept { decommit(place, bytes); }
  /// Maps memory at such addresses again. False, with nothing changed, when out of memory.
  virtual bool commit(void* /*place*/, std::size_t /*bytes*/) { return false; }
  /// The name that the tools use.
  virtual std::string_view name() const = 0;
};

}  // namespace warpheap::host
