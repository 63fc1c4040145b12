// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "warpheap/core/error.hpp"
#include "warpheap/host/extent.hpp"
#include "warpheap/host/pools/pool_stats.hpp"
#include "warpheap/host/streams/stream.hpp"

namespace warpheap::host {

/// A pool of device memory, whatever its policy. Any thread may call any function at any time.
class pool_interface {
 public:
  virtual ~pool_interface() = default;

  /// At least `bytes` bytes at a multiple of `alignment` (a power of two; blocks are always aligned
  /// to the granule), for work in `stream` from now on; null when out of memory and for 0 bytes.
  /// \throws what the upstream throws if it fails for another reason; nothing was allocated then
  virtual void* try_allocate(std::size_t bytes, std::size_t alignment, stream_id stream) = 0;

  /// Takes back memory that was last used by work in `stream`; null does nothing.
  /// \throws invalid_argument for a pointer that is not a live block of this pool
  virtual void deallocate(void* memory, stream_id stream) = 0;

  /// Like `try_allocate`, but returns null, with nothing changed, if it would have to take more
  /// memory, to wait or to call the driver; then call `try_allocate`. For callers that hold a lock
  /// which the work in the streams may need, such as Python's.
  virtual void* allocate_quickly(std::size_t /*bytes*/, std::size_t /*alignment*/,
                                 stream_id /*stream*/) {
    return nullptr;
  }

  /// The same for `deallocate`; false if nothing was done, as for null.
  virtual bool deallocate_quickly(void* /*memory*/, stream_id /*stream*/) { return false; }

  /// Takes back the tail of a block and keeps its first `bytes` bytes. No stream may still use the
  /// tail. Returns the bytes taken back. \throws invalid_argument as `deallocate`, for 0 bytes, and
  /// for a policy whose blocks cannot be cut
  virtual std::size_t truncate(void* memory, std::size_t bytes) = 0;

  /// The block's real size in bytes; 0 for a pointer that is not a live block of this pool.
  virtual std::size_t usable_bytes(void* memory) const = 0;

  /// Orders streams: work that enters `later` from now on starts after all work that is in
  /// `earlier` now. Call this for a block that two streams used before you free it in one of them.
  virtual void order(stream_id earlier, stream_id later) = 0;

  /// What is held and in use, and the peaks. O(regions).
  virtual pool_stats stats() const = 0;

  /// Gives back memory that no block needs, as long as more than `keep_bytes` bytes stay held:
  /// regions without a block and, if the upstream has pages, whole pages of holes. Waits for freed
  /// memory that a stream may still use. Returns the bytes given back.
  virtual std::size_t trim(std::size_t keep_bytes) = 0;

  /// Verifies every invariant; returns a description of the first violation. O(blocks)
  virtual std::optional<std::string> check() const = 0;

  /// Calls `visit(extent, used)` for each block, free or not, in address order. The pool is locked
  /// during the call. A block that is freed and pending counts as used.
  virtual void for_each_block(const std::function<void(extent, bool)>& visit) const = 0;

  /// Like `try_allocate`, but throws instead of returning null. \throws out_of_memory; for other
  /// failures of the upstream, what that throws
  void* allocate(std::size_t bytes, std::size_t alignment, stream_id stream) {
    void* memory = try_allocate(bytes, alignment, stream);
    if (memory == nullptr && bytes != 0) {
      const pool_stats now = stats();
      throw out_of_memory("out of memory: " + std::to_string(bytes) +
                          " bytes were requested; the pool holds " +
                          std::to_string(now.reserved_bytes) + " bytes, of which " +
                          std::to_string(now.bytes_in_use) + " are in use");
    }
    return memory;
  }
};

}  // namespace warpheap::host
