// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

inline constexpr publication published{
    .authors = "M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu, Z. Xu, J. Meng",
    .title = "Dynamic Buffer Management in Massively Parallel Systems: The Power of Randomness",
    .venue = "ACM TOPC 12(1)",
    .year = 2025,
    .doi = "10.1145/3701623",
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
