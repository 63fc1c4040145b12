// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What CUDA's allocator claims.
///
/// Not finished (`alloc`, `exhaustion`, `failing`, `group_by`, `growth`, `holes`, `latency`,
/// `occupancy`, `phases`, `sequence`, `utilization`): within the limit of the survey, which is
/// mostly 6 s; nor is `steady` with 64 B. NVIDIA does not publish the algorithm, so why is not
/// known.

#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE

/// What CUDA's allocator claims: known on every machine, unlike the allocator itself.
inline constexpr capabilities builtin_about{
    .name = "cuda",
    .description = "the allocator that comes with CUDA",
    .folder = "cuda",
    .published = {.authors = "NVIDIA",
                  .title = "CUDA C++ Programming Guide: Dynamic Global Memory Allocation and "
                           "Operations"},
    .deviations = {"Requests beyond the heap's size never reach it."},
    .uses_region = false,
    .blocks_in_region = false,
    .resets = false,
};

WARPHEAP_END_NAMESPACE
