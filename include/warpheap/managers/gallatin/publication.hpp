// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE

inline constexpr publication gallatin_publication{
    .authors = "Hunter McCoy, Prashant Pandey",
    .title = "Gallatin: A General-Purpose GPU Memory Manager",
    .venue = "PPoPP",
    .year = 2024,
    .doi = "10.1145/3627535.3638499",
};

WARPHEAP_END_NAMESPACE
