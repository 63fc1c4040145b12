// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string_view>

#include "warpheap/host/memory_pool.hpp"
#include "warpheap/host/pool.hpp"

namespace warpheap::host {

inline constexpr char upstream_names[] =
    "host reserved cuda_malloc cuda_malloc_async virtual_memory";
inline constexpr char driver_allocator_names[] = "cuda_malloc cuda_malloc_async";

/// A pool, or one of the driver's own allocators, from the names of its parts.
/// \throws invalid_argument for an unknown name, error where CUDA is asked for and missing
std::unique_ptr<memory_pool> make_named(std::string_view policy, std::string_view upstream,
                                        int device, pool_options options);

}  // namespace warpheap::host
