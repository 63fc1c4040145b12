// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/heap/block_contents.hpp"
#include "warpheap/heap/contracts/contracts.hpp"
#include "warpheap/heap/failure.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE

/// The object that kernels use to access a heap; pass it by value. The contract of the manager `M`
/// behind it decides what it offers: blocks, warp heaps or objects.
///
/// All calls to a manager go through it. It answers requests for 0 bytes, null pointers, and
/// requests that this heap can never serve, and it counts failures. No call throws or waits
/// forever. The manager determines the cost of a call; its header says why each of its loops ends.
template <usable_manager M>
class handle {
 public:
  /// For `heap`, which creates the manager; programs get a handle from `heap::ref`.
  /// \param failures counts in device memory that outlive the handle
  WARPHEAP_HD handle(const M& manager, failure_counts* failures)
      : manager_(manager), failures_(failures) {}

  /// Bytes of the largest request that this heap can serve once its whole region is memory.
  WARPHEAP_HD std::size_t largest_block() const { return manager_.largest_block(); }

  /// The manager itself, for members that only it has.
  WARPHEAP_HD const M& manager() const { return manager_; }

  /// A handle of another manager over this heap, such as that of an arena. Its failures count as
  /// failures of this heap.
  template <usable_manager Other>
  WARPHEAP_HD handle<Other> with(const Other& over) const {
    return handle<Other>(over, failures_);
  }

  // Blocks.

  /// Returns a block of at least `bytes` bytes, aligned to at least 16; null if `bytes` is 0 or
  /// more than `largest_block()`, or if the heap is exhausted. Any lane may call it, alone or
  /// together with others.
  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const requires block_manager<M> {
    return possible(bytes) ? counted(manager_.malloc(bytes), bytes) : nullptr;
  }

  /// Frees a block. Any lane of this or a later launch may do so, once. Null is ignored.
  WARPHEAP_DEVICE void free(void* block) const requires block_manager<M> {
    simt::expect_lane();
    if (block != nullptr) manager_.free(block);
  }

  /// Like `malloc(count * bytes)`, with all bytes zero; also null if the product overflows.
  /// Takes O(count * bytes) longer.
  WARPHEAP_DEVICE void* calloc(std::size_t count,
                               std::size_t bytes) const requires block_manager<M> {
    const bool overflows = bytes != 0 && count > SIZE_MAX / bytes;
    void* block = malloc(overflows ? SIZE_MAX : count * bytes);
    if (block != nullptr) block_contents::clear(block, count * bytes);
    return block;
  }

  /// One block for all lanes of `together`. Each of them calls this on a handle of the same heap,
  /// with the same size, and gets the same pointer; one of them frees it.
  WARPHEAP_DEVICE void* malloc_shared(const simt::group& together,
                                      std::size_t bytes) const requires block_manager<M> {
    std::uint64_t address = 0;
    if (together.is_leader()) address = reinterpret_cast<std::uintptr_t>(malloc(bytes));
    together.sync();  // what the leader has acquired is the members' as well
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(together.broadcast(address)));
  }

  /// Like malloc, at a multiple of `alignment`. Also null if that is not a power of two, or so
  /// large that this heap can never serve it.
  WARPHEAP_DEVICE void* aligned_malloc(std::size_t alignment,
                                       std::size_t bytes) const requires aligns_blocks<M> {
    if (!possible(bytes)) return nullptr;
    if (!can_align(alignment, bytes)) return never(bytes);
    return counted(manager_.aligned_malloc(alignment, bytes), bytes);
  }

  /// Usable bytes of a live block, at least as many as were asked for; 0 for null.
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const requires measures_blocks<M> {
    simt::expect_lane();
    return block == nullptr ? 0 : manager_.usable_size(block);
  }

  /// Returns a block of `bytes` bytes that begins with the contents of `block`. It may be `block`
  /// itself; otherwise `block` is freed. With a null `block` it is a malloc, with 0 bytes a free.
  /// If it returns null for a size other than 0, `block` is unchanged. O(bytes) if the block moves.
  WARPHEAP_DEVICE void* realloc(void* block, std::size_t bytes) const requires measures_blocks<M> {
    const std::size_t there = usable_size(block);
    if (block != nullptr && bytes != 0 && bytes <= there) return block;
    void* larger = malloc(bytes);
    if (block == nullptr || (larger == nullptr && bytes != 0)) return larger;
    if (larger != nullptr) block_contents::copy(larger, block, there);
    free(block);
    return larger;
  }

  /// A handle that marks its calls with this tag, below 2^22, for example `__LINE__`. Layers that
  /// find misuse report the tag; other managers ignore it.
  WARPHEAP_HD handle tagged([[maybe_unused]] std::uint32_t tag) const {
    if constexpr (tags_calls<M>) {
      return handle(manager_.tagged(tag), failures_);
    } else {
      return *this;
    }
  }

  /// Adds the next `bytes` of the region to the heap while others use it. Every lane of `together`
  /// calls this for the same heap with the same size, because a warp does the work faster than a
  /// lane; all get the same outcome. Writes O(bytes / size of `together`) words.
  WARPHEAP_DEVICE growth_outcome grow(const simt::group& together,
                                      std::size_t bytes) const requires growing_manager<M> {
    simt::expect_lane();
    return manager_.grow(together, bytes);
  }

  // Warp heaps.

  /// Creates a warp heap. The lanes that call this together for the same heap become its
  /// participants. The result is false if the heap is exhausted. Each lane gets the warp heap that
  /// it belongs to.
  WARPHEAP_DEVICE auto begin() const requires warp_heap_manager<M> {
    simt::expect_lane();
    const auto made = manager_.begin(simt::coalesced(failures_));
    if (!made) note(failure_reason::exhausted, 0);
    return made;
  }

  /// Returns a block of a warp heap; null without a warp heap, otherwise like the other `malloc`.
  template <class WarpHeap>
  WARPHEAP_DEVICE void* malloc(const WarpHeap& of,
                               std::size_t bytes) const requires warp_heap_of<WarpHeap, M> {
    return possible(bytes) ? counted(of ? manager_.malloc(of, bytes) : nullptr, bytes) : nullptr;
  }

  /// Frees all blocks of a warp heap, once each of its participants has called this or `end`.
  template <class WarpHeap>
  WARPHEAP_DEVICE void tidy_up(const WarpHeap& of) const requires warp_heap_of<WarpHeap, M> {
    if (of) manager_.tidy_up(of);
  }

  /// The calling participant no longer needs the warp heap. The last such call frees all of it.
  template <class WarpHeap>
  WARPHEAP_DEVICE void end(const WarpHeap& of) const requires warp_heap_of<WarpHeap, M> {
    if (of) manager_.end(of);
  }

  // Objects.

  /// Constructs a T. The returned pointer is false if the heap is exhausted.
  template <class T, class... Arguments>
  WARPHEAP_DEVICE auto make(Arguments&&... arguments) const requires object_manager<M> {
    simt::expect_lane();
    const auto made = manager_.template make<T>(std::forward<Arguments>(arguments)...);
    if (!made) note(failure_reason::exhausted, sizeof(T));
    return made;
  }

  /// Returns a copy of the whole object. \pre `object` is live
  template <class T, class Pointer>
  WARPHEAP_DEVICE T load(const Pointer& object) const requires object_manager<M> {
    return manager_.template load<T>(object);
  }
  /// Replaces the whole object. \pre `object` is live
  template <class T, class Pointer>
  WARPHEAP_DEVICE void store(const Pointer& object,
                             const T& value) const requires object_manager<M> {
    manager_.template store<T>(object, value);
  }

  /// Destroys an object. Any lane of this or a later launch may do so, once. A false pointer is
  /// ignored.
  template <class T, class Pointer>
  WARPHEAP_DEVICE void destroy(const Pointer& object) const requires object_manager<M> {
    if (object) manager_.template destroy<T>(object);
  }

 private:
  /// Whether a request may go to the manager; counts it if it can never be served.
  WARPHEAP_DEVICE bool possible(std::size_t bytes) const {
    simt::expect_lane();
    // One comparison: 0 - 1 is the largest number.
    if (bytes - 1 < manager_.largest_block()) return true;
    if (bytes != 0) never(bytes);
    return false;
  }

  /// Managers compute with powers of two only.
  WARPHEAP_DEVICE bool can_align(std::size_t alignment, [[maybe_unused]] std::size_t bytes) const {
    if (!is_power_of_two(alignment)) return false;
    if constexpr (limits_alignment<M>) return manager_.can_align(alignment, bytes);
    return true;
  }

  /// Null for a request that this heap can never serve, which is counted.
  WARPHEAP_DEVICE void* never(std::size_t bytes) const {
    note(failure_reason::impossible, bytes);
    if constexpr (hears_failures<M>) manager_.failed(bytes, failure_reason::impossible);
    return nullptr;
  }

  WARPHEAP_DEVICE void* counted(void* block, std::size_t bytes) const {
    if (block == nullptr) {
      note(failure_reason::exhausted, bytes);
      if constexpr (hears_failures<M>) manager_.failed(bytes, failure_reason::exhausted);
    }
    return block;
  }

  WARPHEAP_DEVICE void note(failure_reason why, std::size_t bytes) const {
    // One atomic for all lanes that fail together.
    const simt::group together = simt::coalesced(failures_);
    if (!together.is_leader()) return;
    const std::uint32_t part = (simt::sm_id() + simt::warp_slot()) % failure_counts::parts;
    simt::atomic_ref(failures_->counted[part].requests[static_cast<int>(why)])
        .fetch_add(static_cast<std::uint64_t>(together.size()), simt::order::relaxed);
    // A million stores to one word would queue up, too. What a multiprocessor knows of it may be
    // old within a launch, in which no order says which request was the last.
    std::uint64_t& last = failures_->last_bytes[static_cast<int>(why)];
    if (simt::load_hint(last) != bytes) {
      simt::atomic_ref(last).store(bytes, simt::order::relaxed);
    }
  }

  M manager_;
  failure_counts* failures_;
};

WARPHEAP_END_NAMESPACE
