// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

inline constexpr publication published{
    .authors = "A. V. Adinetz, D. Pleiter",
    .title = "Halloc: A High-Throughput Dynamic Memory Allocator for GPGPU Architectures",
    .venue = "GTC",
    .year = 2014,
    .doi = "",
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
