// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace ouroboros_parts {

inline constexpr publication published{
    .authors = "M. Winter, D. Mlakar, M. Parger, M. Steinberger",
    .title = "Ouroboros: Virtualized Queues for Dynamic Memory Management on GPUs",
    .venue = "ICS",
    .year = 2020,
    .doi = "10.1145/3392717.3392742",
};

}  // namespace ouroboros_parts
WARPHEAP_END_NAMESPACE
