// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace containers {

/// What the containers need from a heap: the handle that `heap.ref()` returns, of any manager that
/// frees single blocks, or another type with the same two functions. Blocks are aligned to
/// `least_alignment` and `malloc` returns null when the heap is exhausted.
template <class H>
concept block_heap = std::is_trivially_copyable_v<H> &&
    requires(const H heap, std::size_t bytes, void* block) {
  { heap.malloc(bytes) } -> std::same_as<void*>;
  heap.free(block);
};

/// What can be kept in blocks: containers move elements as bytes, and never destroy them.
template <class T>
concept block_element = std::is_trivially_copyable_v<T> && alignof(T) <= least_alignment;

}  // namespace containers
WARPHEAP_END_NAMESPACE
