// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device's upstreams by their names.
#include "../make_named.hpp"
#include "warpheap/host/cuda/driver_allocator.hpp"
#include "warpheap/host/cuda/events.hpp"
#include "warpheap/host/cuda/malloc_upstream.hpp"
#include "warpheap/host/cuda/virtual_memory_upstream.hpp"

namespace warpheap::host {

std::unique_ptr<pool_interface> make_driver_allocator(std::string_view name, int device) {
  using kind = cuda::driver_allocator::kind;
  const kind which = name == "cuda_malloc" ? kind::malloc : kind::malloc_async;
  return std::make_unique<cuda::driver_allocator>(device, which);
}

memory_source make_device_source(std::string_view name, int device) {
  const auto source = [device](auto memory) -> memory_source {
    return {std::move(memory), std::make_shared<cuda::events>(device)};
  };
  if (name == "cuda_malloc") return source(std::make_shared<cuda::malloc_upstream>(device));
  if (name == "cuda_malloc_async") {
    return source(std::make_shared<cuda::malloc_async_upstream>(device));
  }
  return source(std::make_shared<cuda::virtual_memory_upstream>(device));
}

}  // namespace warpheap::host
