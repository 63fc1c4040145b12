// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The manager behind `warpheap::heap` when none is named: the best one available.

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

WARPHEAP_BEGIN_NAMESPACE

using default_manager = warpheap_manager<>;

/// `warpheap::heap heap{device, bytes}` and `warpheap::heap_ref` are those of the default manager.
template <usable_manager M = default_manager>
class heap;
heap(const device&, std::size_t)->heap<default_manager>;
heap(const device&, const region&)->heap<default_manager>;
template <memory_resource R>
heap(const device&, R, std::size_t) -> heap<default_manager>;
using heap_ref = handle<default_manager>;

WARPHEAP_END_NAMESPACE
