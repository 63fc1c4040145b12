// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "make_named.hpp"

#include <string>

#include "warpheap/core/error.hpp"
#include "warpheap/host/pools.hpp"
#if WARPHEAP_HOST_WITH_CUDA
#include "warpheap/host/cuda/driver_allocator.hpp"
#include "warpheap/host/cuda/events.hpp"
#include "warpheap/host/cuda/upstreams.hpp"
#endif

namespace warpheap::host {
namespace {

// An upstream and what tells when its memory is unused.
struct source {
  std::shared_ptr<upstream> memory;
  std::shared_ptr<stream_events> events;
};

#if WARPHEAP_HOST_WITH_CUDA
template <class Upstream>
source cuda_source(int device) {
  return {std::make_shared<Upstream>(device), std::make_shared<cuda::events>(device)};
}

std::unique_ptr<memory_pool> make_driver_allocator(std::string_view name, int device) {
  using kind = cuda::driver_allocator::kind;
  const kind which = name == "cuda_malloc" ? kind::malloc : kind::malloc_async;
  return std::make_unique<cuda::driver_allocator>(device, which);
}
#else
[[noreturn]] void no_cuda(std::string_view name) {
  throw error("'" + std::string(name) +
              "' needs CUDA: this library was built where cuda.h was missing");
}

std::unique_ptr<memory_pool> make_driver_allocator(std::string_view name, int) { no_cuda(name); }
#endif

source make_source(std::string_view name, [[maybe_unused]] int device) {
  if (name == "host") return {std::make_shared<host_upstream>(), std::make_shared<no_events>()};
  if (name == "reserved") {
    return {std::make_shared<reserved_upstream>(), std::make_shared<no_events>()};
  }
#if WARPHEAP_HOST_WITH_CUDA
  if (name == "cuda_malloc") return cuda_source<cuda::malloc_upstream>(device);
  if (name == "cuda_malloc_async") return cuda_source<cuda::malloc_async_upstream>(device);
  if (name == "virtual_memory") return cuda_source<cuda::virtual_memory_upstream>(device);
#else
  if ((" " + std::string(upstream_names) + " ").find(" " + std::string(name) + " ") !=
      std::string::npos) {
    no_cuda(name);
  }
#endif
  throw invalid_argument("no upstream is called '" + std::string(name) +
                         "'; the upstreams are: " + upstream_names);
}

}  // namespace

std::unique_ptr<memory_pool> make_named(std::string_view policy, std::string_view upstream,
                                        int device, pool_options options) {
  if (policy == "cuda_malloc" || policy == "cuda_malloc_async") {
    return make_driver_allocator(policy, device);
  }
  const source from = make_source(upstream, device);
  return make_pool(policy, from.memory, from.events, options);
}

}  // namespace warpheap::host
