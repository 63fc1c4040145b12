// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string_view>

#include "warpheap/host/pools/pool_interface.hpp"
#include "warpheap/host/pools/pool_options.hpp"
#include "warpheap/host/streams/stream.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// Memory of the host, addresses without memory, then the device's memory.
inline constexpr char upstream_names[] =
    "host reserved reserved_pages cuda_malloc cuda_malloc_async virtual_memory";
inline constexpr char driver_allocator_names[] = "cuda_malloc cuda_malloc_async";

/// An upstream, and the events that tell when its memory is unused.
struct memory_source {
  std::shared_ptr<upstream> memory;
  std::shared_ptr<stream_events> events;
};

/// One of the last three upstreams. \throws error if CUDA is missing, invalid_argument for a device
/// that does not exist
memory_source make_device_source(std::string_view name, int device);

/// One of the driver's own allocators. \throws like make_device_source
std::unique_ptr<pool_interface> make_driver_allocator(std::string_view name, int device);

/// A pool with that number of parts, or one of the driver's own allocators, by the names of its
/// policy and upstream.
/// \throws invalid_argument for an unknown name, and what the functions above throw
std::unique_ptr<pool_interface> make_named(std::string_view policy, std::string_view upstream,
                                           int device, pool_options options, std::size_t parts);

}  // namespace warpheap::host
