// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE

inline constexpr publication kma_publication{
    .authors = "Roy Spliet, Lee Howes, Benedict R. Gaster, Ana Lucia Varbanescu",
    .title = "KMA: A Dynamic Memory Manager for OpenCL",
    .venue = "GPGPU-7",
    .year = 2014,
    .doi = "10.1145/2588768.2576781",
};

WARPHEAP_END_NAMESPACE
