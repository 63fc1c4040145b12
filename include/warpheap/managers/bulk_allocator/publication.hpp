// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace bulk_parts {

inline constexpr publication published{
    .authors = "Isaac Gelado, Michael Garland",
    .title = "Throughput-oriented GPU memory allocation",
    .venue = "PPoPP",
    .year = 2019,
    .doi = "10.1145/3293883.3295727",
};

}  // namespace bulk_parts
WARPHEAP_END_NAMESPACE
