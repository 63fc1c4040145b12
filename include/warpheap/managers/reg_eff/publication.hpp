// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace reg_eff_parts {

inline constexpr publication published{
    .authors = "M. Vinkler, V. Havran",
    .title = "Register Efficient Dynamic Memory Allocator for GPUs",
    .venue = "Computer Graphics Forum 34(8)",
    .year = 2015,
    .doi = "10.1111/cgf.12666",
};

}  // namespace reg_eff_parts
WARPHEAP_END_NAMESPACE
