// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/contracts/blocks.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The outcome of a request for more memory.
enum class growth_outcome : std::uint32_t {
  grown,
  no_bytes,    ///< it asked for 0 bytes
  uneven,      ///< the size is not a multiple of `growth_step()`
  no_reserve,  ///< the rest of the region is smaller
};

/// Memory can be added while lanes use the heap. The region is then address space of which only a
/// part is memory at first: the manager's options say how much, and its header which part.
/// `largest_block()` counts the whole region; a request for more than is memory now finds the heap
/// exhausted.
///
/// - `grow(together, bytes)`: a collective of the group, in any kernel: makes the next `bytes` of
///   the region available for blocks. They must be memory before the call. A request that begins
///   after it has returned finds them; one that is under way may find them. Nothing changes unless
///   the outcome is `grown`;
/// - `reset(rank, count)`: like `format`, but what was added stays.
///
/// On the host and in lanes:
/// - `growth_step()`: sizes must be multiples of it.
///
/// On the host:
/// - `bytes_for_blocks(device)`: the part of the region that is memory for blocks now, which is
///   also the largest request that an empty heap serves.
///
/// `inspect` also reports the rest of the region as reserved.
template <class M>
concept growing_manager = block_manager<M> &&
    requires(const M m, const simt::group& together, std::size_t bytes, std::uint64_t rank,
             const simt::device& on) {
  { m.grow(together, bytes) } -> std::same_as<growth_outcome>;
  m.reset(rank, rank);
  { m.growth_step() } -> std::same_as<std::size_t>;
  { m.bytes_for_blocks(on) } -> std::same_as<std::size_t>;
};

WARPHEAP_END_NAMESPACE
