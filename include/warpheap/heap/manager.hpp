// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the header of a memory manager includes: the contracts, the region, its cursor and what
/// fits into it, and `WARPHEAP_ASSERT` for preconditions.

#include "warpheap/core/assert.hpp"
#include "warpheap/heap/contracts/contracts.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/region.hpp"

#include <cstddef>
#include <cstdint>
