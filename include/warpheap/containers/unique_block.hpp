// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/block_heap.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// A block of `count` T, owned and freed by a variable of a lane. Move-only. False if the heap was
/// exhausted. The elements are not initialised.
///
///     unique_block<float, warpheap::heap_ref> row(heap, columns);
///     if (!row) return;          // out of memory
///     row[0] = 1;
///
/// All members are for lanes. O(1) apart from the heap's calls.
template <containers::block_element T, containers::block_heap Heap>
class unique_block {
 public:
  /// Owns nothing.
  WARPHEAP_DEVICE explicit unique_block(const Heap& heap) : heap_(heap) {}
  /// \param count elements; with 0, or more than the heap can ever serve, the block is null
  WARPHEAP_DEVICE unique_block(const Heap& heap, std::size_t count) : heap_(heap) {
    // Divided instead of multiplied, so that no product overflows.
    if (count <= SIZE_MAX / sizeof(T)) data_ = static_cast<T*>(heap_.malloc(count * sizeof(T)));
  }
  /// Takes over the block; the other one then owns nothing.
  WARPHEAP_DEVICE unique_block(unique_block&& other) noexcept
      : heap_(other.heap_), data_(other.release()) {}
  /// Frees its own block and takes over the other one.
  WARPHEAP_DEVICE unique_block& operator=(unique_block&& other) noexcept {
    if (this == &other) return *this;
    reset();
    heap_ = other.heap_;
    data_ = other.release();
    return *this;
  }
  WARPHEAP_DEVICE ~unique_block() { reset(); }

  /// Whether it has a block.
  WARPHEAP_DEVICE explicit operator bool() const { return data_ != nullptr; }
  /// The first element; null without a block.
  WARPHEAP_DEVICE T* get() const { return data_; }
  WARPHEAP_DEVICE T& operator*() const { return *data_; }
  WARPHEAP_DEVICE T* operator->() const { return data_; }
  /// \pre it has a block of more than `i` elements
  WARPHEAP_DEVICE T& operator[](std::size_t i) const { return data_[i]; }

  /// Hands the block to the caller, who must free it.
  [[nodiscard]] WARPHEAP_DEVICE T* release() {
    T* const block = data_;
    data_ = nullptr;
    return block;
  }
  /// Frees the block now, if there is one.
  WARPHEAP_DEVICE void reset() {
    if (data_ != nullptr) heap_.free(release());
  }

 private:
  Heap heap_;
  T* data_ = nullptr;
};

WARPHEAP_END_NAMESPACE
