// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace scatter_parts {

inline constexpr publication published{
    .authors = "M. Steinberger, M. Kenzel, B. Kainz, D. Schmalstieg",
    .title = "ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the GPU",
    .venue = "InPar",
    .year = 2012,
    .doi = "10.1109/InPar.2012.6339604",
};

}  // namespace scatter_parts
WARPHEAP_END_NAMESPACE
