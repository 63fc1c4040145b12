// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/host/pools/make_pool.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/host/policies/registry.hpp"
#include "warpheap/host/pools/divided_pool.hpp"
#include "warpheap/host/pools/stream_pool.hpp"

namespace warpheap::host {
namespace {

// Calls `make` with the policy of that name.
template <class Make>
std::unique_ptr<pool_interface> make_of(std::string_view name, Make&& make) {
  std::unique_ptr<pool_interface> made;
  for_each_policy([&](auto policy) {
    if (policy.name == name) made = make(policy);
  });
  if (made == nullptr) {
    throw invalid_argument("unknown pool '" + std::string(name) +
                           "'; the pools are: " + policy_names());
  }
  return made;
}

}  // namespace

std::unique_ptr<pool_interface> make_pool(std::string_view name, std::shared_ptr<upstream> source,
                                          std::shared_ptr<stream_events> events,
                                          pool_options options) {
  return make_of(name, [&](auto policy) {
    return std::make_unique<stream_pool<typename decltype(policy)::type>>(source, events, options);
  });
}

std::unique_ptr<pool_interface> make_divided_pool(
    std::string_view name, std::shared_ptr<upstream> source,
    const std::function<std::shared_ptr<stream_events>()>& make_events, std::size_t parts,
    pool_options options) {
  return make_of(name, [&](auto policy) {
    using type = typename decltype(policy)::type;
    return std::make_unique<divided_pool<type>>(source, make_events, parts, options);
  });
}

}  // namespace warpheap::host
