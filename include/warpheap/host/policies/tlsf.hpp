// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/host/policies/segregated_policy.hpp"

namespace warpheap::host {

/// Two-level segregated fit: 32 classes between a power of two and the next, low addresses
/// preferred. M. Masmano, I. Ripoll, A. Crespo, J. Real, "TLSF: a new dynamic memory allocator for
/// real-time systems", ECRTS 2004; section V-B of the host-based paper. The default of the pools.
using tlsf = segregated_policy<size_index<5>, true>;

/// The same in a range whose addresses and sizes are in granules, less than 2^32 of them.
using tlsf_of_granules = segregated_policy<size_index<5, granule_table>, true>;

static_assert(placement_policy<tlsf> && vacatable_policy<tlsf>);

}  // namespace warpheap::host
