// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "make_named.hpp"

#include <string>

#include "warpheap/core/error.hpp"
#include "warpheap/host/pools/make_pool.hpp"
#include "warpheap/host/upstreams/host_upstream.hpp"
#include "warpheap/host/upstreams/reserved_upstream.hpp"

namespace warpheap::host {
namespace {

bool is_one_of(std::string_view name, std::string_view names) {
  return (" " + std::string(names) + " ").find(" " + std::string(name) + " ") != std::string::npos;
}

memory_source make_source(std::string_view name, int device) {
  if (name == "host") return {std::make_shared<host_upstream>(), std::make_shared<no_events>()};
  if (name == "reserved") {
    return {std::make_shared<reserved_upstream>(), std::make_shared<no_events>()};
  }
  if (name == "reserved_pages") {
    return {std::make_shared<reserved_pages_upstream>(), std::make_shared<no_events>()};
  }
  if (is_one_of(name, upstream_names)) return make_device_source(name, device);
  throw invalid_argument("unknown upstream '" + std::string(name) +
                         "'; the upstreams are: " + upstream_names);
}

}  // namespace

std::unique_ptr<pool_interface> make_named(std::string_view policy, std::string_view upstream,
                                           int device, pool_options options, std::size_t parts) {
  if (is_one_of(policy, driver_allocator_names)) return make_driver_allocator(policy, device);
  const memory_source source = make_source(upstream, device);
  if (parts == 1) return make_pool(policy, source.memory, source.events, options);
  return make_divided_pool(
      policy, source.memory, [&] { return make_source(upstream, device).events; }, parts, options);
}

}  // namespace warpheap::host
