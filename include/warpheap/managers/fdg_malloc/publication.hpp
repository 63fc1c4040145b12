// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE

inline constexpr publication fdg_publication{
    .authors = "Sven Widmer, Dominik Wodniok, Nicolas Weber, Michael Goesele",
    .title = "Fast Dynamic Memory Allocator for Massively Parallel Architectures",
    .venue = "GPGPU-6",
    .year = 2013,
    .doi = "10.1145/2458523.2458535",
};

WARPHEAP_END_NAMESPACE
