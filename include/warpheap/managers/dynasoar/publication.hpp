// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE

inline constexpr publication dynasoar_publication{
    .authors = "Matthias Springer, Hidehiko Masuhara",
    .title =
        "DynaSOAr: A Parallel Memory Allocator for Object-Oriented Programming on GPUs with "
        "Efficient Memory Access",
    .venue = "ECOOP",
    .year = 2019,
    .doi = "10.4230/LIPIcs.ECOOP.2019.17",
};

WARPHEAP_END_NAMESPACE
