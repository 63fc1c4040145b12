// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/core/error.hpp"
#include "warpheap/host/policies/registry.hpp"
#include "warpheap/host/pools/make_pool.hpp"
#include "warpheap/host/pools/stream_pool.hpp"

namespace warpheap::host {

std::unique_ptr<memory_pool> make_pool(std::string_view name, std::shared_ptr<upstream> source,
                                       std::shared_ptr<stream_events> events,
                                       pool_options options) {
  std::unique_ptr<memory_pool> made;
  for_each_policy([&](auto policy) {
    using type = typename decltype(policy)::type;
    if (policy.name == name) {
      made = std::make_unique<stream_pool<type>>(source, events, options);
    }
  });
  if (made == nullptr) {
    throw invalid_argument("unknown pool '" + std::string(name) +
                           "'; the pools are: " + policy_names());
  }
  return made;
}

}  // namespace warpheap::host
