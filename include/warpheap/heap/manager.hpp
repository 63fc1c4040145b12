// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the header of a memory manager includes: the contracts, the region and its cursor, and
/// `WARPHEAP_ASSERT` for preconditions.

#include "warpheap/core/assert.hpp"
#include "warpheap/heap/contracts/contracts.hpp"
#include "warpheap/heap/region.hpp"
