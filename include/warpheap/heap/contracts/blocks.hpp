// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The contract of blocks, which any lane may allocate and any lane may free, and the optional
/// abilities of such managers. Blocks have any size, unless they are pages (pages.hpp).

#include "warpheap/heap/contracts/manager.hpp"
#include "warpheap/heap/failure.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Any lane takes and frees single blocks:
/// - `malloc(bytes)`: a block aligned to `about.alignment`, or null, at once or in bounded time,
///   when the heap is exhausted. \pre `0 < bytes && bytes <= largest_block()`
/// - `free(block)`: by any lane, later as well. \pre `block` is not null, and is live or no address
///   of the heap
template <class M>
concept block_manager = manager<M> && requires(const M m, std::size_t bytes, void* block) {
  { m.malloc(bytes) } -> std::same_as<void*>;
  m.free(block);
};

// Optional abilities of a block manager. The handle offers those that it has.

/// `usable_size(block)`: bytes of a live block that its owner may use, at least as many as it asked
/// for. Gives the handle `usable_size` and `realloc`. \pre `block` is a live block of this manager
template <class M>
concept measures_blocks = block_manager<M> && requires(const M m, void* block) {
  { m.usable_size(block) } -> std::same_as<std::size_t>;
};

/// `aligned_malloc(alignment, bytes)`: as malloc, at a multiple of `alignment`, which is a power of
/// two. `free` takes such blocks, too.
template <class M>
concept aligns_blocks = block_manager<M> && requires(const M m, std::size_t bytes) {
  { m.aligned_malloc(bytes, bytes) } -> std::same_as<void*>;
};

/// `can_align(alignment, bytes)`: whether a heap whose whole region is memory serves that when it
/// is empty. The handle then answers requests that can never be served, as it does those beyond
/// `largest_block()`. \pre like that of `aligned_malloc`
template <class M>
concept limits_alignment = aligns_blocks<M> && requires(const M m, std::size_t bytes) {
  { m.can_align(bytes, bytes) } -> std::same_as<bool>;
};

/// `tagged(tag)`: the same manager, whose reports about calls through this handle carry the tag.
template <class M>
concept tags_calls = requires(const M m, std::uint32_t tag) {
  { m.tagged(tag) } -> std::same_as<M>;
};

/// `failed(bytes, reason)`: called for each request for which the handle returns null, in the lane
/// that asked. A request for 0 bytes is not a failure.
template <class M>
concept hears_failures = requires(const M m, std::size_t bytes, failure_reason why) {
  m.failed(bytes, why);
};

WARPHEAP_END_NAMESPACE
