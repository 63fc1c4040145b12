// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// CCCL before 3.1 (CUDA 13.0 and older) offers its memory resources only on request.
#ifndef LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#endif
#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include "warpheap/host/resources/pool_resource.hpp"

namespace warpheap::host::cuda {

/// A pool of device memory as a model of `cuda::mr::resource` with the property
/// `device_accessible`: usable wherever CCCL or RMM take a resource.
class device_resource : public pool_resource {
 public:
  using pool_resource::pool_resource;

  friend constexpr void get_property(const device_resource&,
                                     ::cuda::mr::device_accessible) noexcept {}
};

/// The same over memory of the host.
class host_resource : public pool_resource {
 public:
  using pool_resource::pool_resource;

  friend constexpr void get_property(const host_resource&, ::cuda::mr::host_accessible) noexcept {}
};

#if CCCL_VERSION >= 3001000
static_assert(::cuda::mr::resource_with<device_resource, ::cuda::mr::device_accessible>);
static_assert(::cuda::mr::resource_with<host_resource, ::cuda::mr::host_accessible>);
static_assert(!::cuda::mr::resource_with<device_resource, ::cuda::mr::host_accessible>);
#else
static_assert(::cuda::mr::async_resource_with<device_resource, ::cuda::mr::device_accessible>);
static_assert(::cuda::mr::async_resource_with<host_resource, ::cuda::mr::host_accessible>);
static_assert(!::cuda::mr::async_resource_with<device_resource, ::cuda::mr::host_accessible>);
#endif

}  // namespace warpheap::host::cuda
