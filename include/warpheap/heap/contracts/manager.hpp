// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What every memory manager offers. What callers get from it is defined by one of the contracts
/// beside this file: blocks.hpp, pages.hpp, warp_heaps.hpp, objects.hpp.

#include "warpheap/heap/capabilities.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

/// For managers that have no options at run time.
struct no_options {};

/// A manager is a trivially copyable handle: pointers and sizes of its region. Kernels get copies.
///
/// All members are const: the handle does not change, only the region that it points to.
///
/// On the host, without touching the region:
/// - `M::about`, its capabilities;
/// - `M(region, device_properties, options)`: lays itself out. Throws `region_too_small` if the
///   region is too small; `heap` then finds out which size is enough.
///
/// On the host and in lanes, once it is laid out:
/// - `largest_block()`: bytes of the largest request that this heap can serve. An empty heap serves
///   it once its whole region is memory (growth.hpp). Larger requests never reach the manager.
///
/// In lanes:
/// - `format(rank, count)`: called once by every lane of a grid of `count` lanes before anything
///   else, and again at every reset. Each lane brings its share of the region into the initial
///   state;
/// - `inspect(rank, count, inspection)`: called by every lane of a grid while no lane allocates.
///
/// Only the handle of `heap` calls what the contracts add, so managers state preconditions
/// (`WARPHEAP_ASSERT`) instead of handling requests that make no sense. Nothing in a contract
/// traps, prints or hangs, whichever lanes are converged, even when memory is exhausted. Each
/// header says why its wait loops make progress when the lanes of a warp are scheduled
/// independently.
template <class M>
concept manager = std::is_trivially_copyable_v<M> &&
    requires(const M m, std::uint64_t rank, inspection& findings, const region& memory,
             const simt::device_properties& machine, const typename M::options& options) {
  { M::about } -> std::convertible_to<const capabilities&>;
  M(memory, machine, options);
  { m.largest_block() } -> std::same_as<std::size_t>;
  m.format(rank, rank);
  m.inspect(rank, rank, findings);
};

WARPHEAP_END_NAMESPACE
