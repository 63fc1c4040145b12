// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The kernels that all cases share.

#include "bench/lanes/blocks.hpp"
#include "bench/lanes/requests.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

using shared_kernels = type_list<allocate, release, write_blocks, examine_blocks>;

}  // namespace lanes
WARPHEAP_END_NAMESPACE
