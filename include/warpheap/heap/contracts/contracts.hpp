// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// All contracts. Each has a conformance suite of its own (tests/conformance), which every manager
/// that models it runs: registry_test.cpp there compares the two.

#include "warpheap/heap/contracts/blocks.hpp"
#include "warpheap/heap/contracts/growth.hpp"
#include "warpheap/heap/contracts/objects.hpp"
#include "warpheap/heap/contracts/pages.hpp"
#include "warpheap/heap/contracts/warp_heaps.hpp"

WARPHEAP_BEGIN_NAMESPACE

/// A manager that callers can get something from.
template <class M>
concept usable_manager = block_manager<M> || warp_heap_manager<M> || object_manager<M>;

/// What a manager hands out. One that models several contracts counts by the first of these.
enum class allocation_scope {
  thread,  ///< blocks, of any size, to any lane
  page,    ///< blocks of one size that is fixed when the heap is made
  warp,    ///< blocks of a warp's own heap; freed together
  object,  ///< objects of types that are known when the manager is compiled
};

template <usable_manager M>
inline constexpr allocation_scope scope_of = any_size_manager<M>    ? allocation_scope::thread
                                             : page_manager<M>      ? allocation_scope::page
                                             : warp_heap_manager<M> ? allocation_scope::warp
                                                                    : allocation_scope::object;

WARPHEAP_END_NAMESPACE
