// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

inline constexpr publication published{
    .authors = "X. Huang, C. I. Rodrigues, S. Jones, I. Buck, W. Hwu",
    .title = "XMalloc: A Scalable Lock-free Dynamic Memory Allocator for Many-core Machines",
    .venue = "IEEE CIT",
    .year = 2010,
    .doi = "10.1109/CIT.2010.206",
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
