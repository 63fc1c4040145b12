// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What every memory manager offers, whatever it manages. What callers get from it is one of the
/// contracts beside this file: blocks.hpp, warp_heaps.hpp, objects.hpp.

#include "warpheap/heap/capabilities.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

/// Options of managers that have none at run time.
struct no_options {};

/// A manager is a trivially copyable handle: pointers and sizes of its region. Kernels get copies.
///
/// All members are const: a handle does not change, the region that it points to does.
///
/// On the host, without touching the region:
/// - `M::about`, its capabilities;
/// - `M(region, device_properties, options)`: lays itself out. Throws `region_too_small` if the
///   region is; `heap` then finds out which size is enough.
///
/// On the host and in lanes, once it is laid out:
/// - `largest_block()`: bytes of the largest request that this heap ever serves. An empty heap
///   serves it, once all of its region is memory (growth.hpp); larger requests never reach the
///   manager.
///
/// In lanes:
/// - `format(rank, count)`: called once by every lane of a grid of `count` lanes before anything
///   else (and again at every reset): brings the region into its initial state, each lane a share;
/// - `inspect(rank, count, inspection)`: called by every lane of a grid while no lane allocates.
///
/// `heap`'s handle is the only caller of what the contracts add, so managers state preconditions
/// (`WARPHEAP_ASSERT`) instead of answering requests that make no sense. Nothing in a contract
/// traps, prints or hangs, whichever lanes are converged, also after memory ran out; each wait loop
/// says in the header why it makes progress when lanes of one warp are scheduled independently.
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
