// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources against the CCCL that is installed: this compiles or it does not. What CCCL calls a
// resource changed in version 3.1, so both are asked for what they have.
#include "warpheap/host/adaptors/failure_callback_resource.hpp"
#include "warpheap/host/adaptors/limiting_resource.hpp"
#include "warpheap/host/adaptors/logging_resource.hpp"
#include "warpheap/host/adaptors/statistics_resource.hpp"
#include "warpheap/host/cuda/device_resource.hpp"
#include "warpheap/host/cuda/driver_allocator.hpp"
#include "warpheap/host/cuda/events.hpp"
#include "warpheap/host/cuda/malloc_upstream.hpp"
#include "warpheap/host/cuda/virtual_memory_upstream.hpp"
#if __has_include(<rmm/resource_ref.hpp>)
#include <rmm/resource_ref.hpp>
static_assert(std::is_constructible_v<rmm::device_async_resource_ref,
                                      warpheap::host::cuda::device_resource&>);
#endif

namespace {

using warpheap::host::cuda::device_resource;
using warpheap::host::cuda::host_resource;

template <class Resource, class Property>
constexpr bool is_resource_with =
#if CCCL_VERSION >= 3001000
    cuda::mr::resource_with<Resource, Property>;
#else
    cuda::mr::async_resource_with<Resource, Property>;
#endif

template <class Resource>
constexpr bool serves_the_device = is_resource_with<Resource, cuda::mr::device_accessible> &&
                                   !is_resource_with<Resource, cuda::mr::host_accessible>;

namespace wh = warpheap::host;
static_assert(serves_the_device<device_resource>);
static_assert(serves_the_device<wh::statistics_resource<device_resource>>);
static_assert(serves_the_device<wh::limiting_resource<device_resource>>);
static_assert(serves_the_device<wh::logging_resource<device_resource>>);
static_assert(serves_the_device<wh::failure_callback_resource<device_resource>>);
static_assert(serves_the_device<wh::statistics_resource<wh::limiting_resource<device_resource>>>);
static_assert(is_resource_with<wh::statistics_resource<host_resource>, cuda::mr::host_accessible>);

#if CCCL_VERSION >= 3001000
using any_device_resource = cuda::mr::any_resource<cuda::mr::device_accessible>;
using device_resource_ref = cuda::mr::resource_ref<cuda::mr::device_accessible>;
static_assert(std::is_constructible_v<any_device_resource, device_resource>);
static_assert(std::is_constructible_v<device_resource_ref, device_resource&>);
// And one of our wrappers around any resource.
static_assert(serves_the_device<wh::statistics_resource<any_device_resource>>);
#else
using device_resource_ref = cuda::mr::async_resource_ref<cuda::mr::device_accessible>;
static_assert(std::is_constructible_v<device_resource_ref, device_resource&>);
#endif

}  // namespace
